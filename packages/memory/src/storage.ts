/** The memory storage, the reference implementation of the storage contract. */
import {
  batchBytes,
  type BlobAdapter,
  checkExpect,
  checkOptions,
  defineStorage,
  type DocumentAdapter,
  type HeadInfo,
  type ListedSession,
  type OptionNames,
  parseDocKey,
  readPages,
  type SessionStorage,
  type StorageAdapter,
  StorageError,
  takeChunk,
  watchHeads,
  windowStart,
} from "@sessions/core/storage"
import {
  createLog,
  createMemoryLocation,
  headOf,
  markedHeadOf,
  type MemoryLocation,
  type MemoryLog,
  notify,
  subscribe,
  timestamp,
} from "./location.ts"

export interface MemoryLimits {
  /** The longest line in UTF-8 bytes, without its LF. Default 49,999,999: one line fills the default batch. */
  readonly maxLineBytes?: number
  /** The largest batch in UTF-8 bytes, with one LF per line. Default 50,000,000. */
  readonly maxBatchBytes?: number
  /** The largest log in UTF-8 bytes. Core enforces it; the storage does not. Default 200,000,000. */
  readonly maxSessionBytes?: number
}

export interface MemoryStorageOptions {
  readonly limits?: MemoryLimits
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number
  /** Storage objects with the same location share its sessions. Default: a new location for this storage object alone. */
  readonly location?: MemoryLocation
}

const LIMITS: OptionNames<MemoryLimits> = { maxLineBytes: true, maxBatchBytes: true, maxSessionBytes: true }
const OPTIONS: OptionNames<MemoryStorageOptions> = { limits: true, clock: true, location: true }

/**
 * Creates a storage that keeps sessions in memory, for tests and for programs that need no persistence. Nothing survives the end of
 * the process. Throws `invalid` for unknown options and wrong values.
 *
 * A write needs no lock: it compares the head and changes the log within one tick of the event loop.
 */
export function createMemoryStorage(options: MemoryStorageOptions = {}): SessionStorage {
  check(options)
  const location = options.location ?? createMemoryLocation()
  const clock = options.clock ?? Date.now
  const head = (session: string): HeadInfo | undefined => {
    const log = location.logs.get(session)
    return log && headInfoOf(log)
  }

  return defineStorage({
    description: `memory:${location.id}`,
    capabilities: capabilitiesOf(options),
    // A call changes the location within one tick, so a signal cannot abort it part-way.
    aborts: true,
    docs: createDocuments(location),
    blobs: createBlobs(location, clock),
    head,

    append(session, lines, { expect, info }) {
      const stored = location.logs.get(session)
      checkExpect(stored && markedHeadOf(stored), expect)
      const log = stored ?? createLog(0)
      write(log, lines)
      log.updatedAt = timestamp(location, clock)
      if (info !== undefined) log.info = { text: info, next: log.lines.length }
      location.logs.set(session, log)
      notify(location, session, "changed")
      return headOf(log)
    },

    read: readPages(
      head,
      (session, id, from, to) => takeChunk(linesOf(location.logs.get(session), id, from, to)),
      (session, id, before, maxBytes) =>
        windowStart(linesBefore(location.logs.get(session), id, before), before, maxBytes),
    ),

    async *list() {
      yield newestFirst(location)
    },

    delete(session, { expect }) {
      const log = location.logs.get(session)
      if (expect !== undefined) checkExpect(log && markedHeadOf(log), expect)
      location.logs.delete(session)
      deleteDocumentsOf(location, session)
      notify(location, session, "deleted")
      return { bytes: log?.bytes ?? 0, parts: log === undefined ? 0 : 1, purged: true }
    },

    sync() {
      // Memory has no storage that is more stable.
    },

    async replace(session, chunks, { expect }) {
      // The new log is complete before the old one is changed, so a source that fails leaves the old log.
      const log = createLog(0)
      for await (const { lines } of chunks) write(log, lines)
      const old = location.logs.get(session)
      checkExpect(old && markedHeadOf(old), expect)
      log.updatedAt = timestamp(location, clock)
      location.logs.set(session, log)
      notify(location, session, "changed")
      return headOf(log)
    },

    watch: watchHeads({
      head,
      subscribe: (session, changed, deleted) => subscribe(location, session, { changed, deleted }),
    }),
  })
}

function check(options: MemoryStorageOptions): void {
  checkOptions("createMemoryStorage", options, OPTIONS)
  const { limits = {}, clock, location } = options
  checkOptions("createMemoryStorage, limits", limits, LIMITS)
  for (const [name, value] of Object.entries(limits)) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0))
      throw invalidError(`\`${name}\` must be a whole number above 0.`)
  }
  if (clock !== undefined && typeof clock !== "function") throw invalidError("`clock` must be a function.")
  if (location !== undefined && !(location?.logs instanceof Map))
    throw invalidError("`location` must come from createMemoryLocation().")
}

function invalidError(message: string): StorageError {
  return new StorageError("invalid", `createMemoryStorage: ${message}`)
}

function capabilitiesOf({ limits = {}, location }: MemoryStorageOptions): StorageAdapter["capabilities"] {
  return {
    durability: "none",
    atomicBatch: "all",
    // All users of a shared location are in this process, where any number of storage objects are safe.
    writers: location === undefined ? "instance" : "host",
    listOrder: "updatedAt",
    deleteIf: true,
    maxLineBytes: limits.maxLineBytes ?? 49_999_999,
    maxBatchBytes: limits.maxBatchBytes ?? 50_000_000,
    maxSessionBytes: limits.maxSessionBytes ?? 200_000_000,
  }
}

function write(log: MemoryLog, lines: readonly string[]): void {
  for (const line of lines) log.lines.push(line)
  log.bytes += batchBytes(lines)
}

/** No lines if this is another log, or none. */
function* linesOf(log: MemoryLog | undefined, id: string, from: number, to: number): Generator<string> {
  if (log?.id !== id) return
  for (let seq = from; seq < Math.min(to, log.lines.length); seq++) yield log.lines[seq] as string
}

/** The same, the newest first. */
function* linesBefore(log: MemoryLog | undefined, id: string, before: number): Generator<string> {
  if (log?.id !== id) return
  for (let seq = before - 1; seq >= 0; seq--) yield log.lines[seq] as string
}

function newestFirst(location: MemoryLocation): ListedSession[] {
  const rows = [...location.logs].map(([id, log]) => ({ id, ...headInfoOf(log) }))
  return rows.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
}

function headInfoOf(log: MemoryLog): HeadInfo {
  const { bytes, updatedAt, info } = log
  const { next, log: id, mark } = markedHeadOf(log)
  return { next, log: id, ...(mark !== undefined && { mark }), bytes, updatedAt, ...(info !== undefined && { info }) }
}

function createDocuments({ docs }: MemoryLocation): DocumentAdapter {
  return {
    get: (key) => docs.get(key),

    compareAndSet(key, from, to) {
      if ((docs.get(key) ?? null) !== from) return false
      if (to === null) docs.delete(key)
      else docs.set(key, to)
      return true
    },

    async *list(prefix) {
      yield [...docs.keys()].filter((key) => key.startsWith(prefix)).toSorted()
    },
  }
}

function deleteDocumentsOf({ docs }: MemoryLocation, session: string): void {
  for (const key of docs.keys()) {
    if (parseDocKey(key).session === session) docs.delete(key)
  }
}

function createBlobs(location: MemoryLocation, clock: () => number): BlobAdapter {
  const { blobs } = location
  return {
    put: (hash, bytes) => blobs.set(hash, { bytes, putAt: timestamp(location, clock) }),
    // A copy, so that callers cannot change the stored bytes.
    get: (hash) => blobs.get(hash)?.bytes.slice(),
    has: (hash) => blobs.has(hash),

    delete(hash, { ifPutBefore }) {
      const blob = blobs.get(hash)
      return blob !== undefined && blob.putAt < ifPutBefore && blobs.delete(hash)
    },

    async *list() {
      yield [...blobs].map(([hash, { bytes, putAt }]) => ({ hash, bytes: bytes.length, putAt }))
    },
  }
}
