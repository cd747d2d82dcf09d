/** Lists and removes many objects. */
import type { Deps } from "../base/deps.ts"
import type { ListedObject, ObjectPage } from "../object-store/object-store.ts"
import { storageError, toStorageError } from "./errors.ts"
import { sendOnce } from "./request.ts"
import { withRetries } from "./retry.ts"

const PARALLEL_DELETES = 32

/** Every object under a prefix, in the order of keys. Pages are requested as they are consumed. */
export async function* iterateObjects(
  deps: Deps,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListedObject, void, undefined> {
  let after: string | undefined
  let last = ""
  do {
    const page = await listPage(deps, prefix, after, signal)
    yield* page.objects
    after = page.next
    const end = page.objects.at(-1)?.key
    if (after !== undefined && (end === undefined || !isBehind(end, last))) {
      const message = `The list of the objects under ${prefix} does not go on behind ${last}: the store ignores its own continuation token, or something in front of it does.`
      throw storageError(deps, "unavailable", message, { at: prefix })
    }
    last = end ?? ""
  } while (after !== undefined)
}

/** In the order of a list: that of UTF-8 bytes, which is that of code points. */
function isBehind(key: string, other: string): boolean {
  const [a, b] = [Array.from(key), Array.from(other)]
  const at = a.findIndex((character, n) => character !== b[n])
  return at !== -1 && (b[at] === undefined || (a[at]?.codePointAt(0) ?? 0) > (b[at]?.codePointAt(0) ?? 0))
}

export async function listObjects(
  deps: Deps,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<ListedObject[]> {
  const objects: ListedObject[] = []
  for await (const object of iterateObjects(deps, prefix, signal)) objects.push(object)
  return objects
}

/** Tries each key once. Returns the keys that could not be removed: another delete or garbage collection tries them again. */
export async function removeObjects(deps: Deps, keys: readonly string[]): Promise<ReadonlySet<string>> {
  const left = new Set<string>()
  const remove = async (key: string): Promise<void> => {
    try {
      await sendOnce(deps, undefined, (signal) => deps.store.delete(key, { signal }))
    } catch {
      left.add(key)
    }
  }
  for (let at = 0; at < keys.length; at += PARALLEL_DELETES) {
    await Promise.all(keys.slice(at, at + PARALLEL_DELETES).map(remove))
  }
  return left
}

async function listPage(
  deps: Deps,
  prefix: string,
  after: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ObjectPage> {
  try {
    return await withRetries(deps, signal, (requestSignal) =>
      deps.store.list(prefix, { signal: requestSignal, ...(after !== undefined && { after }) }),
    )
  } catch (error) {
    throw toStorageError(deps, error, `list the objects under ${prefix} (which needs s3:ListBucket on the bucket)`, {
      at: prefix,
    })
  }
}
