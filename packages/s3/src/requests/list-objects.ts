import type { Environment } from "../base/deps.ts"
import { toStorageError } from "./errors.ts"
import type { ListedObject, ObjectPage } from "../object-store/object-store.ts"
import { persistently } from "./retry.ts"

/** Every object under a prefix, in the order of the keys, page by page. */
export async function* listAll(
  env: Environment,
  prefix: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<ListedObject, void, undefined> {
  let after: string | undefined
  do {
    const page = await listPage(env, prefix, after, signal)
    yield* page.objects
    after = page.next
  } while (after !== undefined)
}

async function listPage(
  env: Environment,
  prefix: string,
  after: string | undefined,
  signal: AbortSignal | undefined,
): Promise<ObjectPage> {
  try {
    return await persistently(env, signal, (within) =>
      env.store.list(prefix, { signal: within, ...(after !== undefined && { after }) }),
    )
  } catch (error) {
    throw toStorageError(env, error, `list what is under ${prefix} (which needs s3:ListBucket on the bucket)`, {
      at: prefix,
    })
  }
}

export async function collectKeys(
  env: Environment,
  prefix: string,
  signal: AbortSignal | undefined,
): Promise<ListedObject[]> {
  const objects: ListedObject[] = []
  for await (const object of listAll(env, prefix, signal)) objects.push(object)
  return objects
}
