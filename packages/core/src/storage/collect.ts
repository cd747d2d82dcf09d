/** Removes unreferenced blobs. Entries are not parsed: a hash anywhere in a log or a document counts as a reference. */
import { checkSignal, signalOf } from "./signals.ts"
import type { CallOptions, Head, SessionStorage } from "./contract.ts"
import { StorageError, hasStorageCode, invalid } from "./errors.ts"

export interface CollectOptions extends CallOptions {
  /** Milliseconds. Blobs whose last put is more recent are kept, referenced or not. Default: 24 hours. */
  readonly olderThan?: number
}

export interface CollectedBlobs {
  readonly removed: number
  /** Total size of the removed blobs. */
  readonly bytes: number
}

/**
 * Removes the blobs that no log and no document of the storage mentions and whose last put is older than `olderThan`. Safe beside
 * writers: a writer puts a blob before it appends the line that refers to it, and the put renews the blob.
 *
 * Every session is read, chunk by chunk. If one cannot be read (`corrupt`, `unavailable`), the collection rejects before anything is
 * removed, since that session's references are unknown. Also `unavailable` if sessions were created and deleted so fast that no pass
 * read them all.
 */
export async function collectBlobs(storage: SessionStorage, o: CollectOptions = {}): Promise<CollectedBlobs> {
  const { olderThan = DAY_MS } = o
  if (!Number.isFinite(olderThan) || olderThan < 0) {
    throw invalid(`\`olderThan\` must be a number of milliseconds from 0, not ${String(olderThan)}.`)
  }
  const signal = signalOf(o)
  const ifPutBefore = Date.now() - olderThan
  const unreferenced = new Map<string, number>()
  for await (const { hash, bytes, putAt } of storage.blobs.list(signal)) {
    if (putAt < ifPutBefore) unreferenced.set(hash, bytes)
  }
  if (unreferenced.size > 0) await dropReferenced(storage, unreferenced, signal)
  let [removed, freed] = [0, 0]
  for (const [hash, bytes] of unreferenced) {
    if (!(await storage.blobs.delete(hash, { ...signal, ifPutBefore }))) continue
    removed++
    freed += bytes
  }
  return { removed, bytes: freed }
}

const DAY_MS = 24 * 60 * 60 * 1000
/** More passes than any race of forks and deletions lasts. */
const MAX_PASSES = 10

/**
 * Removes the mentioned hashes from `hashes`. A session created meanwhile can refer to an old blob only if it is a fork, and its source
 * may be deleted before it was read. So one pass is not enough: in the last one no session may have disappeared.
 */
async function dropReferenced(storage: SessionStorage, hashes: Map<string, number>, o: CallOptions): Promise<void> {
  const read = new Map<string, Head>()
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const gone = await dropInSessions(storage, hashes, read, o)
    for await (const key of storage.docs.list("", o)) drop(hashes, (await storage.docs.get(key, o))?.text ?? "")
    if (pass > 1 && !gone) return
  }
  throw new StorageError(
    "unavailable",
    "Sessions were created and deleted too fast to find every reference to a blob; nothing was removed. Collect again when fewer sessions change.",
    { storage: storage.description },
  )
}

/** Reads the unread lines of each session. Returns whether one was deleted or replaced before all of it was read. */
async function dropInSessions(
  storage: SessionStorage,
  hashes: Map<string, number>,
  read: Map<string, Head>,
  o: CallOptions,
): Promise<boolean> {
  const rows: (Head & { readonly id: string })[] = []
  for await (const { id, next, log } of storage.list(o)) rows.push({ id, next, log })
  let gone = false
  for (const { id, next, log } of rows) {
    checkSignal(o.signal)
    const known = read.get(id)
    const from = known?.log === log ? known.next : 0
    if (known?.log === log && from >= next) continue
    const end = await dropInLog(storage, id, from, hashes, o)
    const whole = end !== undefined && end >= next
    if (whole) read.set(id, { next: end, log })
    gone ||= !whole
  }
  return gone
}

/** Returns the seq after the last line that was read; undefined if the log was deleted or replaced meanwhile. */
async function dropInLog(
  storage: SessionStorage,
  id: string,
  from: number,
  hashes: Map<string, number>,
  o: CallOptions,
): Promise<number | undefined> {
  let end = from
  try {
    for await (const chunk of storage.read(id, { from }, o)) {
      for (const line of chunk.lines) drop(hashes, line)
      end = chunk.from + chunk.lines.length
    }
  } catch (error) {
    if (hasStorageCode(error, "conflict")) return undefined
    throw error
  }
  return end
}

const HASH_DIGITS = 64
const MENTION = /[0-9a-f]{64,}/g

/** Anything that looks like a hash counts as one: keeping an unreferenced blob costs space, removing a referenced one loses data. */
function drop(hashes: Map<string, number>, text: string): void {
  for (const [digits] of text.matchAll(MENTION)) {
    for (let at = 0; at + HASH_DIGITS <= digits.length; at++) hashes.delete(digits.slice(at, at + HASH_DIGITS))
  }
}
