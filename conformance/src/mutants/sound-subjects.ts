/**
 * Correct storages that the mutants are made from. Each has a feature that the memory storage lacks, so that the cases for the
 * feature run, and so that a mutant can break it.
 */
import type { Faults, Subject } from "../subject.ts"
import {
  checkListOptions,
  type Chunk,
  hasStorageCode,
  type Head,
  type ListRow,
  type ReadRange,
  type SessionStorage,
  type StorageAppendOptions,
  StorageError,
  type UnreadableSession,
} from "@sessions/core/storage"
import {
  createMemoryLocation,
  createMemoryStorage,
  type MemoryLocation,
  type MemoryStorageOptions,
} from "@sessions/memory"

export type Changes = (real: SessionStorage, location: MemoryLocation) => Partial<SessionStorage>

/** The memory storage with some methods replaced. */
export function changed(name: string, changes: Changes, options: MemoryStorageOptions = {}): Subject<MemoryLocation> {
  return {
    name,
    makeLocation: createMemoryLocation,
    open(location) {
      const real = createMemoryStorage({ ...options, location })
      return { ...real, ...changes(real, location) }
    },
  }
}

/** One value per location, shared by the storages on it. */
export function perLocation<T>(make: () => T): (location: MemoryLocation) => T {
  const values = new WeakMap<MemoryLocation, T>()
  return (location) => {
    const value = values.get(location) ?? make()
    values.set(location, value)
    return value
  }
}

/** Lists by id, and does not support sync, watch or replace. */
export const plain: Subject<MemoryLocation> = changed("plain", (real) => ({
  ...withoutOptional(real),
  async *list(o = {}) {
    const { after, limit, ...rest } = o
    checkListOptions(o, { ...real.capabilities, listOrder: "id" })
    const rows = (await collect(real.list(rest))).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    yield* rows.filter(({ id }) => after === undefined || id > after).slice(0, limit)
  },
}))

/** Has limits that are small enough to be tested. */
export const small: Subject<MemoryLocation> = changed("small", () => ({}), {
  limits: { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 },
})

/** Keeps torn bytes beside the log. `glue` says which lines the next append writes. */
export function tearing(
  name: string,
  glue: (torn: string, lines: readonly string[]) => readonly string[],
): Subject<MemoryLocation> {
  const tornOf = perLocation(() => new Map<string, Uint8Array>())
  const subject = changed(name, (real, location) => ({
    async append(session, lines, o) {
      const torn = tornOf(location).get(session)
      const head = await real.append(
        session,
        torn === undefined ? lines : glue(new TextDecoder().decode(torn), lines),
        o,
      )
      tornOf(location).delete(session)
      return head
    },
    async head(session, o) {
      const head = await real.head(session, o)
      const torn = tornOf(location).get(session)
      return head === undefined || torn === undefined ? head : { ...head, torn: torn.length }
    },
  }))
  return {
    ...subject,
    tearTail(location, session, bytes) {
      tornOf(location).set(session, bytes)
    },
  }
}

/** What a read returns for a line that is invalid UTF-8. */
export interface Corrupted {
  /** For the line itself, in a range. */
  readonly decode?: (line: string) => string
  /** For the lines of a window in which the line `at` is such a line. */
  readonly window?: (chunk: Chunk, at: number) => Chunk
}

/** Marks some lines as invalid UTF-8. */
export function corrupting(
  name: string,
  { decode = refuseBytes, window = beginBehind }: Corrupted = {},
): Subject<MemoryLocation> {
  const corruptedIn = perLocation(() => new Map<string, number>())
  const subject = changed(name, (real, location) => ({
    async *read(...args) {
      const [session, range] = args
      const corrupted = corruptedIn(location).get(session)
      if (corrupted !== undefined && isWindow(range)) {
        const chunks = await collect(real.read(...args))
        const from = chunks[0]?.from ?? 0
        const lines = chunks.flatMap((chunk) => chunk.lines)
        const isWithin = from <= corrupted && corrupted < from + lines.length
        return yield* isWithin ? [window({ from, lines }, corrupted)] : chunks
      }
      for await (const { from, lines } of real.read(...args)) {
        yield { from, lines: lines.map((line, index) => (from + index === corrupted ? decode(line) : line)) }
      }
    },
    async delete(session, o) {
      const deleted = await real.delete(session, o)
      corruptedIn(location).delete(session)
      return deleted
    },
  }))
  return { ...subject, corruptLine: (location, session, seq) => void corruptedIn(location).set(session, seq) }
}

/** Marks heads as damaged. `toRows` makes the rows of such a session. */
export function corruptHeads(
  name: string,
  toRows: (row: UnreadableSession) => readonly ListRow[] = (row) => [row],
): Subject<MemoryLocation> {
  const corruptedIn = perLocation(() => new Set<string>())
  const subject = changed(name, (real, location) => {
    const check = (session: string): void => {
      if (!corruptedIn(location).has(session)) return
      throw new StorageError("corrupt", "The head is damaged; it is not changed.", { session })
    }
    return {
      async head(session, o) {
        check(session)
        return real.head(session, o)
      },
      async *list(o) {
        for await (const row of real.list(o)) {
          try {
            check(row.id)
            yield row
          } catch (error) {
            yield* toRows({ id: row.id, error: error as StorageError })
          }
        }
      },
    }
  })
  return { ...subject, corruptHead: (location, session) => void corruptedIn(location).add(session) }
}

/** What a delete moved to the trash. */
export interface Trashed {
  /** Lines and documents. */
  readonly texts: readonly string[]
  readonly info: string
}

/** How a storage that removes the bytes of a session in a second step handles that step. */
export interface Purging {
  /** What stays of the session's trash, oldest first. `isRepeat`: there was no session any more. */
  readonly keep?: (trash: readonly Trashed[], isRepeat: boolean) => readonly Trashed[]
  /** The value of `purged`. `failed`: the bytes could not be removed. */
  readonly toPurged?: (failed: boolean) => boolean
  /** Whether a removed blob is moved to a trash too, which nothing empties. */
  readonly keepsBlobs?: boolean
}

/** Moves a deleted session to a trash, which the same call or a repeated one empties. */
export function purging(
  name: string,
  { keep = () => [], toPurged = (failed) => !failed, keepsBlobs = false }: Purging = {},
): Subject<MemoryLocation> {
  const trashOf = perLocation(() => new Map<string, readonly Trashed[]>())
  const blobsOf = perLocation<Uint8Array[]>(() => [])
  const failing = perLocation<{ armed: boolean }>(() => ({ armed: false }))
  const subject = changed(name, (real, location) => ({
    async delete(session, o) {
      const log = location.logs.get(session)
      const docs = [...location.docs].flatMap(([key, text]) => (key.startsWith(`sessions/${session}/`) ? [text] : []))
      const deleted = await real.delete(session, o)
      const before = trashOf(location).get(session) ?? []
      const info = log?.info?.text ?? ""
      const trash = log === undefined ? before : [...before, { texts: [...log.lines, ...docs], info }]
      const failed = failing(location).armed
      trashOf(location).set(session, failed ? trash : keep(trash, log === undefined))
      return { ...deleted, purged: toPurged(failed) }
    },
    blobs: {
      ...real.blobs,
      async delete(hash, o) {
        const blob = location.blobs.get(hash)
        const isDeleted = await real.blobs.delete(hash, o)
        if (isDeleted && keepsBlobs && blob !== undefined) blobsOf(location).push(blob.bytes)
        return isDeleted
      },
    },
  }))
  return {
    ...subject,
    contains(location, text) {
      const logs = [...location.logs.values()].flatMap(({ lines, info }) => [...lines, info?.text ?? ""])
      const trash = [...trashOf(location).values()].flat().flatMap(({ texts, info }) => [...texts, info])
      const blobs = [...[...location.blobs.values()].map(({ bytes }) => bytes), ...blobsOf(location)]
      const texts = blobs.map((bytes) => new TextDecoder().decode(bytes))
      return [...logs, ...location.docs.values(), ...trash, ...texts].some((one) => one.includes(text))
    },
    faults: {
      removal(location) {
        failing(location).armed = true
        return () => {
          failing(location).armed = false
        }
      },
    },
  }
}

export function isWindow(range: ReadRange | undefined): range is Extract<ReadRange, { readonly maxBytes: number }> {
  return range !== undefined && "maxBytes" in range && range.maxBytes !== undefined
}

function refuseBytes(): never {
  throw new StorageError("corrupt", "The line is not UTF-8; it is not changed.")
}

function beginBehind({ from, lines }: Chunk, at: number): Chunk {
  if (at === from + lines.length - 1) refuseBytes()
  return { from: at + 1, lines: lines.slice(at + 1 - from) }
}

type Append = (
  real: SessionStorage,
  session: string,
  lines: readonly string[],
  o: StorageAppendOptions,
) => Promise<Head>

/** How a faulty storage handles each fault. */
export interface FaultHandling {
  /** Called when the retry after a lost response is refused with `conflict`. */
  readonly resolveConflict?: Append
  /** Called when the store is full. */
  readonly quota?: Append
  /** Called when the request was lost. */
  readonly lost?: Append
  /** Called when a late write is delivered. */
  readonly arrive?: Append
  /** Called when the store asks to retry later. */
  readonly busy?: Append
}

/** Loses responses and requests, delays writes and reports a busy store, on demand. */
export function faulty(name: string, handling: FaultHandling = {}): Subject<MemoryLocation> {
  const {
    resolveConflict = findOwnLines,
    quota = refuseForQuota,
    lost = retry,
    arrive = retry,
    busy = retry,
  } = handling
  const armed = perLocation<{ fault?: keyof Faults<unknown>; deliver?: () => Promise<unknown> }>(() => ({}))
  const subject = changed(name, (real, location) => ({
    async append(session, lines, o) {
      const { fault } = armed(location)
      delete armed(location).fault
      if (fault === "quota") return quota(real, session, lines, o)
      if (fault === "requestLost") return lost(real, session, lines, o)
      if (fault === "busy") return busy(real, session, lines, o)
      if (fault === "late") {
        armed(location).deliver = () => arrive(real, session, lines, o)
        throw new StorageError("indeterminate", "The store did not respond.")
      }
      // The first attempt, whose response is lost, and then the storage's retry.
      if (fault === "responseLost") await real.append(session, lines, o)
      return real.append(session, lines, o).catch((error: unknown) => {
        if (fault === "responseLost" && hasStorageCode(error, "conflict"))
          return resolveConflict(real, session, lines, o)
        throw error
      })
    },
  }))
  const arm = (fault: keyof Faults<unknown>) => (location: MemoryLocation) => {
    armed(location).fault = fault
  }
  return {
    ...subject,
    faults: {
      quota: arm("quota"),
      requestLost: arm("requestLost"),
      responseLost: arm("responseLost"),
      busy: arm("busy"),
      late(location) {
        arm("late")(location)
        return async () =>
          void (await armed(location)
            .deliver?.()
            .catch(() => undefined))
      },
    },
  }
}

/** Looks for the lines of the batch at the seqs where the first attempt must have written them. */
const findOwnLines: Append = async (real, session, lines, { expect }) => {
  const from = expect === 0 ? 0 : expect.next
  const head = await real.head(session)
  const stored: string[] = []
  for await (const chunk of real.read(session, { from, to: from + lines.length })) stored.push(...chunk.lines)
  if (head !== undefined && stored.join("\n") === lines.join("\n")) return { log: head.log, next: from + lines.length }
  throw new StorageError("conflict", "Another writer appended first.")
}

async function refuseForQuota(): Promise<never> {
  throw new StorageError("quota", "The store is full.")
}

const retry: Append = (real, session, lines, o) => real.append(session, lines, o)

/** The memory storage, and a second adapter on the same locations with some methods replaced. */
export function secondAdapter(name: string, changes: Changes): Subject<MemoryLocation> {
  return { ...changed(name, () => ({})), across: [changed("the second adapter", changes)] }
}

/** Claims `durability: "os"`. With `buffers` it acknowledges writes that a crash can still lose. */
export function crashing(name: string, buffers: boolean): Subject<MemoryLocation> {
  const buffered = new WeakMap<object, (() => Promise<unknown>)[]>()
  return {
    name,
    makeLocation: createMemoryLocation,
    open(location) {
      const real = createMemoryStorage({ location })
      const queue: (() => Promise<unknown>)[] = []
      const storage: SessionStorage = {
        ...real,
        capabilities: { ...real.capabilities, durability: "os" },
        async append(session, lines, o) {
          if (!buffers || o.expect === 0) return real.append(session, lines, o)
          queue.push(() => real.append(session, lines, o))
          return { log: o.expect.log, next: o.expect.next + lines.length }
        },
        docs: {
          ...real.docs,
          async put(key, text, o) {
            if (!buffers) return real.docs.put(key, text, o)
            queue.push(() => real.docs.put(key, text, o))
            return `v:${text}`
          },
        },
        async [Symbol.asyncDispose]() {
          for (const write of queue.splice(0)) await write()
          await real[Symbol.asyncDispose]()
        },
      }
      buffered.set(storage, queue)
      return storage
    },
    crash(storage) {
      buffered.get(storage)?.splice(0)
    },
  }
}

export async function collect<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const one of iterable) all.push(one)
  return all
}

function withoutOptional({ capabilities }: SessionStorage): Partial<SessionStorage> {
  return {
    capabilities: { ...capabilities, listOrder: "id", sync: false, watch: false, replace: false },
    sync: () => Promise.reject(unsupported("sync")),
    replace: () => Promise.reject(unsupported("replace")),
    watch: () => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(unsupported("watch")) }),
    }),
  }
}

function unsupported(what: string): StorageError {
  return new StorageError("unsupported", `This storage does not support ${what}.`)
}

/** Each passes every case that applies to it. */
export const soundSubjects: readonly Subject<MemoryLocation>[] = [
  plain,
  small,
  tearing("tearing", (_, lines) => lines),
  corrupting("corrupting"),
  corruptHeads("corrupt heads"),
  purging("purging"),
  crashing("crashing", false),
  faulty("faulty"),
  secondAdapter("second adapter", () => ({})),
]
