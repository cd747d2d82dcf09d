/** Removes unreferenced blobs. Entries are not parsed: a hash anywhere in a log or a document counts as a reference. */
import { checkStorage, parseDocKey } from "./checks.ts"
import { checkOptions, type OptionNames, shown } from "./options.ts"
import { checkSignal, signalOf } from "./signals.ts"
import type { CallOptions, Head, SessionStorage } from "./contract.ts"
import { StorageError, hasStorageCode, invalidError } from "./errors.ts"
import { withoutEscapes } from "./escapes.ts"

export interface CollectOptions extends CallOptions {
  /** Milliseconds. Blobs whose last put is more recent are kept, referenced or not. Default: 24 hours. */
  readonly olderThan?: number
  /**
   * Ids of sessions whose blobs may be removed if the session cannot be read. Default: none; one unreadable session ends the collection.
   */
  readonly unreadable?: readonly string[]
  /**
   * True: removes blobs also if the storage lists no session. Default false: blobs without a session may be a sign that the list was not
   * answered by the storage, or is that of another place.
   */
  readonly withoutSessions?: boolean
  /** Removes nothing, and returns what it would remove. Default false. */
  readonly dryRun?: boolean
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
 * Every session is read, chunk by chunk. If some cannot be read (`corrupt`, `unsupported`, `unavailable`), the collection rejects
 * before anything is removed, since their references are unknown. The error names them, has the code of the first, and an
 * `AggregateError` of all as its cause; `unreadable` excepts them. Also `unavailable` if sessions were created and deleted so fast that
 * no pass read them all.
 */
export async function collectBlobs(storage: SessionStorage, o: CollectOptions = {}): Promise<CollectedBlobs> {
  checkStorage("collectBlobs", storage)
  checkCollectOptions("collectBlobs", o)
  const { olderThan = DAY_MS, unreadable = [], withoutSessions = false, dryRun = false } = o
  const signal = signalOf(o)
  const ifPutBefore = Date.now() - olderThan
  const unreferenced = new Map<string, number>()
  for await (const { hash, bytes, putAt } of storage.blobs.list(signal)) {
    if (putAt < ifPutBefore) unreferenced.set(hash, bytes)
  }
  if (unreferenced.size > 0) {
    const sessions = await dropReferenced(storage, unreferenced, { ...signal, unreadable: new Set(unreadable) })
    if (sessions === 0 && unreferenced.size > 0 && !withoutSessions) throw noSessionsError(storage, unreferenced.size)
  }
  let [removed, freed] = [0, 0]
  for (const [hash, bytes] of unreferenced) {
    if (!dryRun && !(await storage.blobs.delete(hash, { ...signal, ifPutBefore }))) continue
    removed++
    freed += bytes
  }
  return { removed, bytes: freed }
}

/** Throws `invalid` for wrong options. */
export function checkCollectOptions(call: string, o: CollectOptions): void {
  checkOptions(call, o, OPTIONS)
  const { olderThan = DAY_MS, unreadable = [], withoutSessions = false, dryRun = false } = o
  if (!Array.isArray(unreadable)) throw invalidError("`unreadable` must be an array of session ids.")
  if (typeof withoutSessions !== "boolean") throw invalidError("`withoutSessions` must be true or false.")
  if (typeof dryRun !== "boolean") throw invalidError("`dryRun` must be true or false.")
  if (!Number.isFinite(olderThan) || olderThan < 0) {
    throw invalidError(`\`olderThan\` must be a number of milliseconds from 0, not ${shown(olderThan)}.`)
  }
  checkSignal(o.signal)
}

const OPTIONS: OptionNames<CollectOptions> = {
  signal: true,
  olderThan: true,
  unreadable: true,
  withoutSessions: true,
  dryRun: true,
}

/**
 * A line may be sent up to an hour after its blobs were put; after that they are put again (see `areOld`). The second hour is for
 * the sending and for clocks that differ.
 */
export const MENTIONED_WITHIN_MS: number = 2 * 60 * 60 * 1000

const DAY_MS = 24 * 60 * 60 * 1000
/** More passes than any race of forks and deletions lasts. */
const MAX_PASSES = 10
/** Ids in an error message; all of them are in its cause. */
const MAX_NAMED = 20

/**
 * Removes the mentioned hashes from `hashes`. A session created meanwhile can refer to an old blob only if it is a fork, and its source
 * may be deleted before it was read. So one pass is not enough: in the last one no session may have disappeared. Returns how many
 * sessions were listed, at most in one pass.
 */
export async function dropReferenced(
  storage: SessionStorage,
  hashes: Map<string, number>,
  o: References = {},
): Promise<number> {
  const read = o.read ?? new Map<string, Head>()
  let sessions = 0
  for (let pass = 1; pass <= MAX_PASSES; pass++) {
    const { gone, listed } = await dropOnce(storage, hashes, { ...o, read })
    sessions = Math.max(sessions, listed)
    if (pass > 1 && !gone) return sessions
  }
  throw new StorageError(
    "unavailable",
    "Sessions were created and deleted too fast to find every reference to a blob; nothing was removed. Collect again when fewer sessions change.",
    { storage: storage.description },
  )
}

export interface References extends CallOptions {
  /** Sessions that may be unreadable. */
  readonly unreadable?: ReadonlySet<string>
  /** A session whose references do not count. */
  readonly except?: string
  /** How far each session was read by earlier passes; this one goes on there. */
  readonly read?: Map<string, Head>
}

/** One pass over all logs and documents. */
export async function dropOnce(
  storage: SessionStorage,
  hashes: Map<string, number>,
  { unreadable = new Set(), except, read = new Map(), ...o }: References,
): Promise<{ readonly gone: boolean; readonly listed: number }> {
  const { gone, failures, listed } = await dropInSessions(storage, hashes, read, except, o)
  for (const id of unreadable) failures.delete(id)
  if (failures.size > 0) throw unreadableError(storage, failures)
  for await (const key of storage.docs.list("", o)) {
    if (except !== undefined && parseDocKey(key).session === except) continue
    drop(hashes, (await storage.docs.get(key, o))?.text ?? "")
  }
  return { gone, listed }
}

/**
 * Reads the unread lines of each session. `gone`: one was deleted or replaced before all of it was read. `failures`: those that cannot
 * be read, with their errors.
 */
async function dropInSessions(
  storage: SessionStorage,
  hashes: Map<string, number>,
  read: Map<string, Head>,
  except: string | undefined,
  o: CallOptions,
): Promise<{ readonly gone: boolean; readonly failures: Map<string, unknown>; readonly listed: number }> {
  const failures = new Map<string, unknown>()
  const rows: (Head & { readonly id: string })[] = []
  let own = 0
  for await (const row of storage.list(o)) {
    if (row.id === except) own = 1
    else if (row.error === undefined) rows.push({ id: row.id, next: row.next, log: row.log })
    else failures.set(row.id, row.error)
  }
  const listed = rows.length + failures.size + own
  let gone = false
  for (const { id, next, log } of rows) {
    checkSignal(o.signal)
    const known = read.get(id)
    const from = known?.log === log ? known.next : 0
    if (known?.log === log && from >= next) continue
    try {
      const end = await dropInLog(storage, id, from, hashes, o)
      const whole = end !== undefined && end >= next
      if (whole) read.set(id, { next: end, log })
      gone ||= !whole
    } catch (error) {
      if (hasStorageCode(error, "aborted") || hasStorageCode(error, "closed")) throw error
      failures.set(id, error)
    }
  }
  return { gone, failures, listed }
}

export function noSessionsError(storage: SessionStorage, blobs: number): StorageError {
  return new StorageError(
    "unavailable",
    `No blob was removed: the storage lists no session, but ${blobs} blobs that no session names. Look whether this is the place of your sessions, and whether something on the way to it answers for it. If all sessions were deleted, collect with \`withoutSessions: true\`.`,
    { storage: storage.description },
  )
}

function unreadableError(storage: SessionStorage, failures: ReadonlyMap<string, unknown>): StorageError {
  const [first] = failures.values()
  const code = first instanceof StorageError ? first.code : "unavailable"
  const ids = [...failures.keys()]
  const named =
    ids.length > MAX_NAMED ? `${ids.slice(0, MAX_NAMED).join(", ")} and ${ids.length - MAX_NAMED} more` : ids.join(", ")
  const reason = first instanceof Error ? first.message : String(first)
  return new StorageError(
    code,
    `No blob was removed, because the references of unreadable sessions are unknown: ${named} (${reason}). Repair or delete them, or name them in \`unreadable\`.`,
    {
      storage: storage.description,
      ...(ids[0] !== undefined && { session: ids[0] }),
      cause: new AggregateError(failures.values()),
    },
  )
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

/** The references of a text as they are written: 64 digits, and no more beside them. */
export function referencesIn(text: string): string[] {
  return [...withoutEscapes(text).matchAll(MENTION)].flatMap(([digits]) =>
    digits.length === HASH_DIGITS ? [digits] : [],
  )
}

const HASH_DIGITS = 64
const MENTION = /[0-9a-f]{64,}/g

/** Anything that looks like a hash counts as one: keeping an unreferenced blob costs space, removing a referenced one loses data. */
function drop(hashes: Map<string, number>, text: string): void {
  for (const [digits] of withoutEscapes(text).matchAll(MENTION)) {
    for (let at = 0; at + HASH_DIGITS <= digits.length; at++) hashes.delete(digits.slice(at, at + HASH_DIGITS))
  }
}
