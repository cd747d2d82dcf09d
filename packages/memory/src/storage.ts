import type {
  AppendOptions,
  CallOptions,
  Capabilities,
  Chunk,
  Head,
  HeadInfo,
  ListedSession,
  ReadRange,
  SessionStorage,
} from "@sessions/core/storage"
import {
  batchBytes,
  checkAppendOptions,
  checkLines,
  checkListOptions,
  checkRange,
  checkSessionId,
  checkSignal,
  isHead,
  MAX_CHUNK_BYTES,
  StorageError,
  utf8Length,
} from "@sessions/core/storage"
import { createMemoryBlobs } from "./blobs.ts"
import { createMemoryDocs, deleteDocsOf } from "./docs.ts"
import type { MemoryLocation, MemoryLog } from "./location.ts"
import { createLog, createMemoryLocation, headOf, isHeadOf, notify, stamp } from "./location.ts"
import { watchHeads } from "./watch.ts"

export interface MemoryLimits {
  /** The longest line, without its LF. Default 49,999,999: a batch of one line. */
  readonly maxLineBytes?: number
  /** Default 50,000,000. */
  readonly maxBatchBytes?: number
  /** Told to core, which holds to it. Default 200,000,000. */
  readonly maxSessionBytes?: number
}

export interface MemoryStorageOptions {
  readonly limits?: MemoryLimits
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly clock?: () => number
  /** Where the sessions are kept; default a place of its own. Storage objects with the same location are writers on the same sessions. */
  readonly location?: MemoryLocation
}

/**
 * Sessions in memory: the reference implementation of the contract, for tests, and for programs that keep nothing.
 *
 * Everything between looking at a log and writing to it happens in one turn of the event loop, which is all that makes it exact.
 */
export function createMemoryStorage(options: MemoryStorageOptions = {}): SessionStorage {
  const location = options.location ?? createMemoryLocation()
  const clock = options.clock ?? Date.now
  const capabilities = capabilitiesOf(options)
  const closing = new Set<() => void>()
  let closed = false

  function enter(o: CallOptions | undefined): void {
    if (closed) throw new StorageError("closed", "This storage was disposed of; make another.", { storage: "memory" })
    checkSignal(o?.signal)
  }

  return {
    capabilities,
    description: "memory",
    docs: createMemoryDocs(location, enter),
    blobs: createMemoryBlobs(location, clock, enter),

    async append(session, lines, o) {
      enter(o)
      checkSessionId(session)
      checkAppendOptions(o)
      checkLines(lines, capabilities)
      const log = logToAppendTo(location, session, o)
      write(log, lines)
      log.updatedAt = stamp(location, clock)
      if (o.info !== undefined) log.info = { text: o.info, next: log.lines.length }
      location.logs.set(session, log)
      notify(location, session, "wake")
      return headOf(log)
    },

    async head(session, o) {
      enter(o)
      checkSessionId(session)
      const log = location.logs.get(session)
      return log === undefined ? undefined : headInfoOf(log)
    },

    read: (session, range, o) => readLog(location, session, range, () => enter(o)),

    async *list(o = {}) {
      enter(o)
      checkListOptions(o, capabilities)
      for (const row of newestFirst(location).slice(0, o.limit)) {
        enter(o)
        yield row
      }
    },

    async delete(session, o) {
      enter(o)
      checkSessionId(session)
      const log = location.logs.get(session)
      location.logs.delete(session)
      deleteDocsOf(location, session)
      notify(location, session, "end")
      return { bytes: log?.bytes ?? 0, parts: log === undefined ? 0 : 1 }
    },

    async sync(session, o) {
      enter(o)
      checkSessionId(session)
    },

    async replace(session, chunks, o) {
      enter(o)
      checkSessionId(session)
      if (!isHead(o.expect))
        throw new StorageError("invalid", "A replace needs `expect`: the head of the log it replaces.")
      const log = await logOf(chunks, capabilities, () => enter(o))
      enter(o)
      const old = location.logs.get(session)
      if (old === undefined || !isHeadOf(o.expect, old)) throw conflict(session, o.expect, old)
      log.updatedAt = stamp(location, clock)
      location.logs.set(session, log)
      notify(location, session, "wake")
      return headOf(log)
    },

    watch: (session, o) =>
      watchHeads(location, session, o?.signal, closing, () => {
        enter({})
        checkSessionId(session)
      }),

    async [Symbol.asyncDispose]() {
      closed = true
      for (const end of closing) end()
    },
  }
}

function capabilitiesOf({ limits = {}, location }: MemoryStorageOptions): Capabilities {
  return {
    durability: "none",
    atomicBatch: "all",
    // Whoever can reach a shared location is in this process, where any number of storage objects are safe.
    writers: location === undefined ? "instance" : "host",
    listOrder: "updatedAt",
    sync: true,
    watch: true,
    replace: true,
    maxLineBytes: limits.maxLineBytes ?? 49_999_999,
    maxBatchBytes: limits.maxBatchBytes ?? 50_000_000,
    maxSessionBytes: limits.maxSessionBytes ?? 200_000_000,
  }
}

function logToAppendTo(location: MemoryLocation, session: string, { expect }: AppendOptions): MemoryLog {
  const log = location.logs.get(session)
  if (expect === 0 && log === undefined) return createLog(0)
  if (expect !== 0 && log !== undefined && isHeadOf(expect, log)) return log
  throw conflict(session, expect, log)
}

function write(log: MemoryLog, lines: readonly string[]): void {
  for (const line of lines) log.lines.push(line)
  log.bytes += batchBytes(lines)
}

/** The log that the chunks of a replace make, complete before anything of the old one is touched. */
async function logOf(chunks: AsyncIterable<Chunk>, capabilities: Capabilities, enter: () => void): Promise<MemoryLog> {
  const log = createLog(0)
  for await (const { from, lines } of chunks) {
    enter()
    if (from !== log.lines.length) {
      throw new StorageError("invalid", `A chunk starts at ${from} where ${log.lines.length} comes next.`)
    }
    checkLines(lines, { ...capabilities, maxBatchBytes: Number.POSITIVE_INFINITY })
    write(log, lines)
  }
  if (log.lines.length > 0) return log
  throw new StorageError(
    "invalid",
    "A log cannot be replaced by nothing: a log without a line does not exist. Delete it.",
  )
}

async function* readLog(
  location: MemoryLocation,
  session: string,
  range: ReadRange | undefined,
  enter: () => void,
): AsyncGenerator<Chunk, void, undefined> {
  enter()
  checkSessionId(session)
  const checked = checkRange(range)
  const log = location.logs.get(session)
  if (log === undefined) return
  const end = Math.min(checked.last === undefined ? checked.to : checked.before, log.lines.length)
  let from = checked.last === undefined ? checked.from : Math.max(0, end - checked.last)
  while (from < end) {
    enter()
    if (location.logs.get(session) !== log) {
      throw new StorageError(
        "conflict",
        `The log of ${session} was deleted or replaced while it was read. Read it anew.`,
        {
          storage: "memory",
          session,
        },
      )
    }
    const chunk = chunkFrom(log, from, end)
    from += chunk.lines.length
    yield chunk
  }
}

function chunkFrom(log: MemoryLog, from: number, end: number): Chunk {
  const lines: string[] = []
  let bytes = 0
  for (let seq = from; seq < end; seq++) {
    const line = log.lines[seq] as string
    bytes += utf8Length(line) + 1
    if (lines.length > 0 && bytes > MAX_CHUNK_BYTES) break
    lines.push(line)
  }
  return { from, lines }
}

function newestFirst(location: MemoryLocation): ListedSession[] {
  const rows = [...location.logs].map(([id, log]) => ({ id, ...headInfoOf(log) }))
  return rows.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
}

function headInfoOf(log: MemoryLog): HeadInfo {
  const { bytes, updatedAt, info } = log
  return { ...headOf(log), bytes, updatedAt, ...(info !== undefined && { info }) }
}

function conflict(session: string, expect: 0 | Head, log: MemoryLog | undefined): StorageError {
  return new StorageError("conflict", conflictMessage(session, expect, log), { storage: "memory", session })
}

function conflictMessage(session: string, expect: 0 | Head, log: MemoryLog | undefined): string {
  if (log === undefined) return `There is no session ${session}; expect 0 creates one.`
  if (expect === 0) return `The session ${session} exists already.`
  if (expect.log !== log.id) return `The log of ${session} was deleted and made again, or replaced. Read it anew.`
  return `The log of ${session} has ${log.lines.length} lines, not ${expect.next}. Read what was added and append after it.`
}
