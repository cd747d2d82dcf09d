/** Removing blobs that nothing refers to. Knows nothing of entries: what stands anywhere in a log or a document is referred to. */
import { checkSignal } from "./checks.ts"
import type { CallOptions, Head, SessionStorage } from "./contract.ts"
import { StorageError } from "./errors.ts"
import { hasStorageCode } from "./errors.ts"

export interface CollectOptions extends CallOptions {
  /** Milliseconds. Blobs that were put later than so long ago are left alone, whoever refers to them. Default: 24 hours. */
  readonly olderThan?: number
}

export interface CollectedBlobs {
  readonly removed: number
  /** Of those that were removed. */
  readonly bytes: number
}

/**
 * Removes the blobs that no log and no document of the storage mentions and that nobody has put for a while. Safe beside writers: a
 * put comes before the line that refers to it and makes its blob young, and what is young stays.
 *
 * Every session is read, in pieces. One that cannot be read (`corrupt`, `unavailable`) ends the collection before anything is
 * removed, since nobody can say what it refers to. `unavailable` also where sessions come and go so fast that none of several looks
 * found them all.
 */
export async function collectBlobs(storage: SessionStorage, o: CollectOptions = {}): Promise<CollectedBlobs> {
  const { olderThan = DAY_MS } = o
  if (!Number.isFinite(olderThan) || olderThan < 0) {
    throw new StorageError("invalid", `\`olderThan\` is a number of milliseconds, not ${String(olderThan)}.`)
  }
  const signal = o.signal === undefined ? {} : { signal: o.signal }
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
/** Longer than any race of forks and deletions lasts. */
const MOST_LOOKS = 10

/**
 * Takes out what is mentioned. A session that is made meanwhile can refer to an old blob only by being a fork of one that is there,
 * and that one may be deleted before it was read. So one look is not enough: the last must have found nobody gone.
 */
async function dropReferenced(storage: SessionStorage, hashes: Map<string, number>, o: CallOptions): Promise<void> {
  const read = new Map<string, Head>()
  for (let look = 1; look <= MOST_LOOKS; look++) {
    const gone = await dropInSessions(storage, hashes, read, o)
    for await (const key of storage.docs.list("", o)) drop(hashes, (await storage.docs.get(key, o))?.text ?? "")
    if (look > 1 && !gone) return
  }
  throw new StorageError(
    "unavailable",
    "Sessions come and go too fast to tell which blobs they refer to; nothing was removed. Collect at a quieter time.",
    { storage: storage.description },
  )
}

/** Reads what was not read yet of each session; says whether one was gone, or another one, before it was read whole. */
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

/** The seq behind the last line that was read; undefined where the log was deleted or replaced meanwhile. */
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

/** Whatever looks like a hash is one: keeping a blob too many costs room, removing one too many costs somebody's picture. */
function drop(hashes: Map<string, number>, text: string): void {
  for (const [digits] of text.matchAll(MENTION)) {
    for (let at = 0; at + HASH_DIGITS <= digits.length; at++) hashes.delete(digits.slice(at, at + HASH_DIGITS))
  }
}
