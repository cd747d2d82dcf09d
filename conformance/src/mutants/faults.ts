/** Mutants of closing, signals, torn lines, crashes, faults, watch and replace. */
import type { Subject } from "../subject.ts"
import { type CallOptions, type Chunk, type Head, type SessionStorage, StorageError } from "@sessions/core/storage"
import { createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { crashing, type FaultHandling, faulty, perLocation, plain, tearing } from "./sound-subjects.ts"
import { current, ids, linesOf, type Mutant, mutant } from "./mutant.ts"

export const faultsMutants: readonly Mutant[] = [
  mutant("keeps working after its disposal", ["OPEN-06", "WATCH-06"], () => ({ async [Symbol.asyncDispose]() {} })),
  mutant("ignores signals", ["APPEND-14", "READ-14", "WATCH-04"], (real) => ({
    append: (session, lines, { expect, info }) =>
      real.append(session, lines, { expect, ...(info !== undefined && { info }) }),
    read: (session, range) => real.read(session, range),
    ...(real.watch !== undefined && { watch: (session: string): AsyncIterable<Head> => watching(real, session) }),
  })),
  {
    subject: {
      ...plain,
      name: "supports replace without the capability",
      open: (location) => overridden(plain, location, ["replace", "watch"]),
    },
    fails: ["WATCH-08", "REPLACE-12"],
  },
  {
    subject: tearing("glues the next append to a torn line", (torn, [first, ...rest]) => [`${torn}${first}`, ...rest]),
    fails: ["TAILS-02", "TAILS-03"],
  },
  {
    subject: tearing("turns a torn line into a whole one", (torn, lines) => [torn, ...lines]),
    fails: ["TAILS-02", "TAILS-03"],
  },
  {
    subject: onTorn("returns a torn line from a read", (storage, tornOf) => ({
      async *read(session, range, o) {
        const torn = tornOf(session)
        let next = 0
        for await (const chunk of storage.read(session, range, o)) {
          yield chunk
          next = chunk.from + chunk.lines.length
        }
        if (torn !== undefined) yield { from: next, lines: [torn] }
      },
    })),
    fails: ["TAILS-01", "TAILS-02", "TAILS-03", "TAILS-04", "TAILS-05"],
  },
  {
    subject: onTorn("removes a torn line in head()", (storage, _, cut) => ({
      async head(session, o) {
        const head = await storage.head(session, o)
        cut(session)
        return head
      },
    })),
    fails: ["TAILS-01", "TAILS-04"],
  },
  {
    subject: onTorn("removes the last whole line with a torn one", (storage, tornOf, cut) => ({
      async append(session, lines, o) {
        const torn = tornOf(session)
        cut(session)
        const head = await storage.head(session)
        if (torn !== undefined && head !== undefined) {
          const whole = await linesOf(storage, session)
          await storage.replace?.(session, chunkOf(whole.slice(0, -1)), { expect: head })
        }
        return storage.append(session, lines, o)
      },
    })),
    fails: ["TAILS-02", "TAILS-03", "TAILS-05"],
  },
  {
    subject: crashing("acknowledges what it only has in memory", true),
    fails: ids(
      "OPEN 04 06 08, CREATE 05 08, APPEND 01 02 04 06 07 08 09 10 11 12 13 14 15, CAS 01 02 03 04 05 06 07 08 09 10, HEAD 02 05 06, READ 02 03 08 16 19 21, LIST 03, DELETE 02 04 05 07 08 09 16 17, DOCS 01 02 03 05 06 07 08 09 10 11, SYNC 01, RECOVER 01 02, WATCH 01 02 03, REPLACE 01 03 04 08 10",
    ),
  },
  { subject: tearingBatches("claims atomic batches, and leaves half a batch after a crash"), fails: ["RECOVER-02"] },
  wrong("reports a conflict for its own retry", ["RECOVER-04", "FAULT-01", "FAULT-02"], { resolveConflict: conflict }),
  wrong("writes again after a lost response", ["RECOVER-04", "FAULT-01", "FAULT-02"], {
    resolveConflict: async (real, session, lines) =>
      real.append(session, lines, { expect: await current(real, session) }),
  }),
  wrong("reports `conflict` for a lost request", ["RECOVER-05"], { lost: conflict }),
  wrong("appends a late write at the current end of the log", ["FAULT-03"], {
    arrive: async (real, session, lines) => real.append(session, lines, { expect: await current(real, session) }),
  }),
  wrong("inserts a late write into the log", ["FAULT-03"], {
    async arrive(real, session, lines, { expect }) {
      const stored = await linesOf(real, session)
      const at = (expect === 0 ? 0 : expect.next) + 1
      const head = (await real.head(session)) as Head
      return replacing(real, session, chunkOf([...stored.slice(0, at), ...lines, ...stored.slice(at)]), {
        expect: head,
      })
    },
  }),
  wrong("writes twice when the store asks to retry", ["FAULT-04"], {
    async busy(real, session, lines, o) {
      const head = await real.append(session, lines, o)
      return real.append(session, lines, { expect: head })
    },
  }),
  wrong("reports `conflict` for a busy store", ["FAULT-04"], { busy: conflict }),
  wrong("leaves half a batch on a full disk", ["RECOVER-03"], {
    async quota(real, session, lines, o) {
      await real.append(session, lines.slice(0, 7), o)
      throw new StorageError("quota", "The store is full.")
    },
  }),
  mutant(
    "does not end a watch when the session is deleted",
    ["WATCH-04", "WATCH-05", "WATCH-06", "WATCH-07"],
    (real) => ({
      async *watch(session, o) {
        for await (const head of watching(real, session)) yield head
        if (o?.signal !== undefined) await aborted(o.signal)
        else await new Promise(() => {})
      },
    }),
  ),
  mutant("blocks return() of a watcher that waits", ["WATCH-07"], (real) => ({
    watch(session, o) {
      const inner = watching(real, session, o)[Symbol.asyncIterator]()
      let waiting: Promise<unknown> = Promise.resolve()
      return {
        [Symbol.asyncIterator]: () => ({
          next() {
            const step = inner.next()
            waiting = step
            return step
          },
          async return() {
            await waiting
            return (await inner.return?.()) ?? { done: true, value: undefined }
          },
        }),
      }
    },
  })),
  mutant("writes only the first chunk of a replace", ["REPLACE-02", "REPLACE-06", "REPLACE-07"], (real) => ({
    async replace(session, chunks, o) {
      for await (const chunk of chunks) return replacing(real, session, chunkOf(chunk.lines), o)
      return replacing(real, session, chunkOf([]), o)
    },
  })),
  mutant("undoes a replace at its disposal", ["REPLACE-09"], (real) => {
    const old = new Map<string, string[]>()
    return {
      async replace(session, chunks, o) {
        const before = await linesOf(real, session)
        const head = await replacing(real, session, chunks, o)
        old.set(session, before)
        return head
      },
      async [Symbol.asyncDispose]() {
        for (const [session, lines] of old) {
          const head = await real.head(session)
          if (head !== undefined) await replacing(real, session, chunkOf(lines), { expect: head })
        }
        await real[Symbol.asyncDispose]()
      },
    }
  }),
]

function watching(real: SessionStorage, session: string, o?: CallOptions): AsyncIterable<Head> {
  if (real.watch === undefined) throw new TypeError("The storage has no watch().")
  return real.watch(session, o)
}

function replacing(real: SessionStorage, ...args: Parameters<NonNullable<SessionStorage["replace"]>>): Promise<Head> {
  if (real.replace === undefined) throw new TypeError("The storage has no replace().")
  return real.replace(...args)
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener("abort", resolve)
  })
}

async function* chunkOf(lines: readonly string[]): AsyncGenerator<Chunk> {
  yield { from: 0, lines }
}

/** A correct storage with torn lines, with some methods replaced. */
function onTorn(
  name: string,
  change: (
    storage: SessionStorage,
    tornOf: (session: string) => string | undefined,
    cut: (session: string) => void,
  ) => Partial<SessionStorage>,
): Subject<MemoryLocation> {
  const torn = perLocation(() => new Map<string, Uint8Array>())
  const sound = tearing(name, (_, lines) => lines)
  return {
    ...sound,
    async open(location) {
      const storage = await sound.open(location)
      const tornOf = (session: string): string | undefined => {
        const bytes = torn(location).get(session)
        return bytes && new TextDecoder().decode(bytes)
      }
      const cut = (session: string): void => {
        torn(location).delete(session)
        void sound.tearTail?.(location, session, new Uint8Array())
      }
      return { ...storage, ...change(storage, tornOf, cut) }
    },
    async tearTail(location, session, bytes) {
      torn(location).set(session, bytes)
      await sound.tearTail?.(location, session, bytes)
    },
  }
}

/** A storage of the subject with some methods of the memory storage. */
async function overridden(
  subject: Subject<MemoryLocation>,
  location: MemoryLocation,
  methods: readonly (keyof SessionStorage)[],
): Promise<SessionStorage> {
  const real = createMemoryStorage({ location })
  return { ...(await subject.open(location)), ...Object.fromEntries(methods.map((name) => [name, real[name]])) }
}

/** Writes a batch in two steps, so that a crash can happen between them. */
function tearingBatches(name: string): Subject<MemoryLocation> {
  const sound = crashing(name, false)
  const crashed = perLocation(() => ({ yes: false }))
  return {
    ...sound,
    async open(location) {
      const storage = await sound.open(location)
      return {
        ...storage,
        async append(session, lines, o) {
          if (o.expect === 0 || lines.length < 100) return storage.append(session, lines, o)
          const half = lines.length / 2
          const expect = await storage.append(session, lines.slice(0, half), o)
          await new Promise((resolve) => setTimeout(resolve, 0))
          if (crashed(location).yes) return new Promise<never>(() => {})
          return storage.append(session, lines.slice(half), { expect })
        },
      }
    },
    async crash(storage, location) {
      await sound.crash?.(storage, location)
      crashed(location).yes = true
    },
  }
}

function wrong(name: string, fails: readonly string[], handling: FaultHandling): Mutant {
  return { subject: faulty(name, handling), fails }
}

async function conflict(): Promise<never> {
  throw new StorageError("conflict", "Another writer appended first.")
}
