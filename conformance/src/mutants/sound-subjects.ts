import type { Faults, Subject } from "../subject.ts"
import type { AppendOptions, Head, SessionStorage } from "@sessions/core/storage"
import { checkListOptions, hasCode, StorageError } from "@sessions/core/storage"
import type { MemoryLocation, MemoryStorageOptions } from "@sessions/memory"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"

/** Sound storages that can do something memory cannot, so that the cases for it are carried out, and can be broken on purpose. */

export type Changes = (real: SessionStorage, location: MemoryLocation) => Partial<SessionStorage>

/** Memory with some of its methods changed. */
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

/** A value per location, shared by the storages on it. */
export function perLocation<T>(make: () => T): (location: MemoryLocation) => T {
  const values = new WeakMap<MemoryLocation, T>()
  return (location) => {
    const value = values.get(location) ?? make()
    values.set(location, value)
    return value
  }
}

/** Lists by id, and can neither sync nor watch nor replace. */
export const plain: Subject<MemoryLocation> = changed("plain", (real) => ({
  ...withoutOptional(real),
  async *list(o = {}) {
    const { after, limit, ...rest } = o
    checkListOptions(o, { ...real.capabilities, listOrder: "id" })
    const rows = (await collect(real.list(rest))).toSorted((a, b) => (a.id < b.id ? -1 : 1))
    yield* rows.filter(({ id }) => after === undefined || id > after).slice(0, limit)
  },
}))

/** With limits that are small enough to be tried. */
export const small: Subject<MemoryLocation> = changed("small", () => ({}), {
  limits: { maxLineBytes: 500_000, maxBatchBytes: 4_000_000 },
})

/** Torn bytes stand beside the log, as they would behind its last LF. `glue` is what an append makes of them. */
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

/** Keeps some lines as bytes that are no UTF-8. `decode` is what a read makes of one. */
export function spoiling(name: string, decode: (line: string) => string): Subject<MemoryLocation> {
  const spoiledIn = perLocation(() => new Map<string, number>())
  const subject = changed(name, (real, location) => ({
    async *read(...args) {
      const spoiled = spoiledIn(location).get(args[0])
      for await (const { from, lines } of real.read(...args)) {
        yield { from, lines: lines.map((line, index) => (from + index === spoiled ? decode(line) : line)) }
      }
    },
    async delete(session, o) {
      const deleted = await real.delete(session, o)
      spoiledIn(location).delete(session)
      return deleted
    },
  }))
  return { ...subject, spoilLine: (location, session, seq) => void spoiledIn(location).set(session, seq) }
}

export function refusesBytes(): never {
  throw new StorageError("corrupt", "The line is not UTF-8; it is left as it is.")
}

export type Settle = (
  real: SessionStorage,
  session: string,
  lines: readonly string[],
  expect: 0 | Head,
) => Promise<Head>

/** What a faulty storage makes of the faults that can be brought about in it. */
export interface Ways {
  /** Of the conflict that the second try meets after an answer that was lost. */
  readonly settle?: Settle
  /** Of a disk without room. */
  readonly quota?: (real: SessionStorage, session: string, lines: readonly string[], o: AppendOptions) => Promise<Head>
  /** Of a request that was lost. */
  readonly lost?: (real: SessionStorage, session: string, lines: readonly string[], o: AppendOptions) => Promise<Head>
  /** Of a write, when it arrives late. */
  readonly arrive?: (real: SessionStorage, session: string, lines: readonly string[], o: AppendOptions) => Promise<Head>
  /** Of being asked to try again later. */
  readonly busy?: (real: SessionStorage, session: string, lines: readonly string[], o: AppendOptions) => Promise<Head>
}

/** Loses answers and requests, is late and busy, on demand. */
export function faulty(name: string, ways: Ways = {}): Subject<MemoryLocation> {
  const { settle = looksForItsOwn, quota = refusesWhole, lost = again, arrive = again, busy = again } = ways
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
        throw new StorageError("indeterminate", "The store did not answer.")
      }
      // The first try, whose answer nobody hears; the second one is the storage's own.
      if (fault === "responseLost") await real.append(session, lines, o)
      return real.append(session, lines, o).catch((error: unknown) => {
        if (fault === "responseLost" && hasCode(error, "conflict")) return settle(real, session, lines, o.expect)
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

/** Looks for the lines of the batch where the first try must have put them. */
export const looksForItsOwn: Settle = async (real, session, lines, expect) => {
  const from = expect === 0 ? 0 : expect.next
  const head = await real.head(session)
  const stored: string[] = []
  for await (const chunk of real.read(session, { from, to: from + lines.length })) stored.push(...chunk.lines)
  if (head !== undefined && stored.join("\n") === lines.join("\n")) return { log: head.log, next: from + lines.length }
  throw new StorageError("conflict", "Another writer was there first.")
}

async function refusesWhole(): Promise<never> {
  throw new StorageError("quota", "There is no room.")
}

function again(real: SessionStorage, session: string, lines: readonly string[], o: AppendOptions): Promise<Head> {
  return real.append(session, lines, o)
}

/** Memory, and a second adapter on the same places with some of its methods changed. */
export function twin(name: string, changes: Changes): Subject<MemoryLocation> {
  const other = changed("the twin", changes)
  return { ...changed(name, () => ({})), across: [other] }
}

/** Claims to survive the end of the process. `buffers`: acknowledges what a crash can still take away. */
export function crashing(name: string, buffers: boolean): Subject<MemoryLocation> {
  const waiting = new WeakMap<object, (() => Promise<unknown>)[]>()
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
      waiting.set(storage, queue)
      return storage
    },
    crash(storage) {
      waiting.get(storage)?.splice(0)
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
  return new StorageError("unsupported", `This storage cannot ${what}.`)
}

/** What the mutants are made from: each passes every case that its capabilities ask for. */
export const soundSubjects: readonly Subject<MemoryLocation>[] = [
  plain,
  small,
  tearing("tearing", (_, lines) => lines),
  spoiling("spoiling", refusesBytes),
  crashing("crashing", false),
  faulty("faulty"),
  twin("twin", () => ({})),
]
