/** Deletes a session together with the blobs that it alone mentioned. */
import { hasCode } from "../../format/errors.ts"
import { notFoundError } from "../../log/load.ts"
import {
  dropOnce,
  dropReferenced,
  MENTIONED_WITHIN_MS,
  noSessionsError,
  referencesIn,
} from "../../storage/collect-blobs.ts"
import type { CallOptions, Deleted, Head, SessionStorage } from "../../storage/contract.ts"
import { signalOf } from "../../storage/signals.ts"

/** Attempts to delete the log that was read. More than any race with other writers lasts. */
const MAX_ATTEMPTS = 10

/** The blobs that a session mentions, and the end of the log that was read for it. */
interface Mentions {
  readonly hashes: Map<string, number>
  readonly expect: Head
}

/**
 * The other logs are read before the deletion, which ends the call while nothing has changed if one is unreadable, and again behind it,
 * because only then no fork of the session begins. `deleted` is called when the session is gone.
 */
export async function deleteNow(
  storage: SessionStorage,
  id: string,
  deleted: () => void,
  o: CallOptions,
): Promise<Deleted> {
  const signal = signalOf(o)
  const { found, hashes, read, result } = await deleteAsRead(storage, id, signal)
  if (found !== "gone" || !result.purged) deleted()
  // A session that was created under the id meanwhile counts as any other.
  if (hashes.size > 0) await dropReferenced(storage, hashes, { ...signal, read })
  const { removed, left } = await removeBlobs(storage, hashes.keys(), Date.now() - MENTIONED_WITHIN_MS, signal)
  // A store may have their bytes in a log or in free pages until it is swept.
  const swept = removed > 0 ? await storage.sweep?.(signal) : undefined
  const purged = result.purged && left === 0 && (swept?.left ?? 0) === 0
  if (found === "gone" && purged && removed === 0) throw notFoundError(storage, id)
  return { ...result, purged }
}

/** `hashes`: those that only this session mentioned. `read`: how far the other logs were read. */
async function deleteAsRead(
  storage: SessionStorage,
  id: string,
  o: CallOptions,
): Promise<{
  readonly found: Mentions | "gone" | "unreadable"
  readonly hashes: Map<string, number>
  readonly read: Map<string, Head>
  readonly result: Deleted
}> {
  for (let attempt = 1; ; attempt++) {
    try {
      const found = await mentionsOf(storage, id, o)
      const known = typeof found === "object" ? found : undefined
      const hashes = known?.hashes ?? (await storedBlobs(storage, o))
      const read = new Map<string, Head>()
      if (hashes.size > 0) {
        const { listed } = await dropOnce(storage, hashes, { ...o, except: id, read })
        // The same as for a collection: a list without sessions may be a sign that something else than the storage has answered.
        if (listed === 0 && hashes.size > 0) throw noSessionsError(storage, hashes.size)
      }
      const expect = storage.capabilities.deleteIf === true && known?.expect
      const result = await storage.delete(id, { ...o, ...(expect && { expect }) })
      return { found, hashes, read, result }
    } catch (error) {
      // Another writer has appended: its lines may mention more.
      if (!hasCode(error, "conflict") || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** The references of the log and the documents of a session. */
async function mentionsOf(
  storage: SessionStorage,
  id: string,
  o: CallOptions,
): Promise<Mentions | "gone" | "unreadable"> {
  const hashes = new Map<string, number>()
  const add = (text: string): void => {
    for (const hash of referencesIn(text)) hashes.set(hash, 0)
  }
  try {
    const head = await storage.head(id, o)
    if (head === undefined) return "gone"
    const { log } = head
    let next = 0
    for await (const { from, lines } of storage.read(id, { log }, o)) {
      for (const line of lines) add(line)
      next = from + lines.length
    }
    for await (const key of storage.docs.list(`sessions/${id}/`, o)) add((await storage.docs.get(key, o))?.text ?? "")
    return { hashes, expect: { next, log } }
  } catch (error) {
    if (hasCode(error, "corrupt") || hasCode(error, "unsupported")) return "unreadable"
    throw error
  }
}

async function storedBlobs({ blobs }: SessionStorage, o: CallOptions): Promise<Map<string, number>> {
  const hashes = new Map<string, number>()
  for await (const { hash, bytes } of blobs.list(o)) hashes.set(hash, bytes)
  return hashes
}

/** `left`: how many are stored still, because their last put is not older than `ifPutBefore`. */
async function removeBlobs(
  { blobs }: SessionStorage,
  hashes: Iterable<string>,
  ifPutBefore: number,
  o: CallOptions,
): Promise<{ readonly removed: number; readonly left: number }> {
  let [removed, left] = [0, 0]
  for (const hash of hashes) {
    if (!(await blobs.has(hash, o))) continue
    if (await blobs.delete(hash, { ...o, ifPutBefore })) removed++
    else if (await blobs.has(hash, o)) left++
  }
  return { removed, left }
}
