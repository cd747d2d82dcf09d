import type { HeadInfo, ListedSession, SessionStorage, StorageAdapter } from "@sessions/core/storage"
import { batchBytes, checkExpect, defineStorage, readPages, takeChunk, watchHeads } from "@sessions/core/storage"
import { createMemoryBlobs } from "./blobs.ts"
import { createMemoryDocs, deleteDocsOf } from "./docs.ts"
import type { MemoryLocation, MemoryLog } from "./location.ts"
import { createLog, createMemoryLocation, headOf, listen, notify, stamp } from "./location.ts"

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
  const head = (session: string): HeadInfo | undefined => {
    const log = location.logs.get(session)
    return log && headInfoOf(log)
  }

  return defineStorage({
    description: "memory",
    capabilities: capabilitiesOf(options),
    // Whatever touches the location does so at once, before any signal can fire.
    aborts: true,
    docs: createMemoryDocs(location),
    blobs: createMemoryBlobs(location, clock),
    head,

    append(session, lines, { expect, info }) {
      const stored = location.logs.get(session)
      checkExpect(stored && headOf(stored), expect)
      const log = stored ?? createLog(0)
      write(log, lines)
      log.updatedAt = stamp(location, clock)
      if (info !== undefined) log.info = { text: info, next: log.lines.length }
      location.logs.set(session, log)
      notify(location, session, "ring")
      return headOf(log)
    },

    read: readPages(head, (session, id, from, to) => {
      const log = location.logs.get(session)
      return log?.id === id ? takeChunk(linesOf(log, from, to)) : []
    }),

    async *list() {
      yield newestFirst(location)
    },

    delete(session) {
      const log = location.logs.get(session)
      location.logs.delete(session)
      deleteDocsOf(location, session)
      notify(location, session, "end")
      return { bytes: log?.bytes ?? 0, parts: log === undefined ? 0 : 1 }
    },

    sync() {
      // Nothing is more stable than what it is in.
    },

    async replace(session, chunks, { expect }) {
      // Complete before anything of the old one is touched.
      const log = createLog(0)
      for await (const { lines } of chunks) write(log, lines)
      const old = location.logs.get(session)
      checkExpect(old && headOf(old), expect)
      log.updatedAt = stamp(location, clock)
      location.logs.set(session, log)
      notify(location, session, "ring")
      return headOf(log)
    },

    watch: watchHeads({ look: head, listen: (session, ring, end) => listen(location, session, { ring, end }) }),
  })
}

function capabilitiesOf({ limits = {}, location }: MemoryStorageOptions): StorageAdapter["capabilities"] {
  return {
    durability: "none",
    atomicBatch: "all",
    // Whoever can reach a shared location is in this process, where any number of storage objects are safe.
    writers: location === undefined ? "instance" : "host",
    listOrder: "updatedAt",
    maxLineBytes: limits.maxLineBytes ?? 49_999_999,
    maxBatchBytes: limits.maxBatchBytes ?? 50_000_000,
    maxSessionBytes: limits.maxSessionBytes ?? 200_000_000,
  }
}

function write(log: MemoryLog, lines: readonly string[]): void {
  for (const line of lines) log.lines.push(line)
  log.bytes += batchBytes(lines)
}

function* linesOf({ lines }: MemoryLog, from: number, to: number): Generator<string> {
  for (let seq = from; seq < Math.min(to, lines.length); seq++) yield lines[seq] as string
}

function newestFirst(location: MemoryLocation): ListedSession[] {
  const rows = [...location.logs].map(([id, log]) => ({ id, ...headInfoOf(log) }))
  return rows.toSorted((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? 1 : -1))
}

function headInfoOf(log: MemoryLog): HeadInfo {
  const { bytes, updatedAt, info } = log
  return { ...headOf(log), bytes, updatedAt, ...(info !== undefined && { info }) }
}
