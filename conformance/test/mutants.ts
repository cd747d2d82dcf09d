import type { Subject } from "@sessions/conformance"
import type { Chunk, Doc, Head, SessionStorage } from "@sessions/core/storage"
import { hasCode, isSessionId, StorageError } from "@sessions/core/storage"
import type { MemoryLocation } from "@sessions/memory"
import { createMemoryStorage } from "@sessions/memory"
import type { Changes } from "./variants.ts"
import {
  changed,
  collect,
  crashing,
  faulty,
  looksForItsOwn,
  perLocation,
  plain,
  refusesWhole,
  tearing,
} from "./variants.ts"

/** A storage that is wrong in one way, and the cases that must notice. */
export interface Mutant {
  readonly subject: Subject<MemoryLocation>
  readonly fails: readonly string[]
}

export const mutants: readonly Mutant[] = [
  mutant(
    "ignores expect",
    ["CREATE-02", "CREATE-04", "CAS-01", "CAS-02", "CAS-03", "CAS-05", "CAS-06", "CAS-07"],
    (real) => ({
      async append(session, lines, o) {
        for (;;) {
          const expect = await current(real, session)
          try {
            return await real.append(session, lines, { ...o, expect })
          } catch (error) {
            if (!hasCode(error, "conflict")) throw error
          }
        }
      },
    }),
  ),
  mutant("checks, then writes", ["CREATE-04", "CAS-06", "CAS-08"], (real) => ({
    async append(session, lines, o) {
      const head = await current(real, session)
      const same =
        head === 0 || o.expect === 0 ? head === o.expect : head.next === o.expect.next && head.log === o.expect.log
      await new Promise((resolve) => setTimeout(resolve, 1))
      return real.append(session, lines, same ? { ...o, expect: await current(real, session) } : o)
    },
  })),
  mutant("acknowledges before it commits", ["APPEND-01", "APPEND-13"], (real) => ({
    async append(session, lines, o) {
      if (o.expect === 0 || lines.length === 0) return real.append(session, lines, o)
      setTimeout(() => void real.append(session, lines, o).catch(() => undefined), 2)
      return { log: o.expect.log, next: o.expect.next + lines.length }
    },
  })),
  mutant("drops the last line of a batch", ["CREATE-01", "CREATE-03", "APPEND-02", "APPEND-03"], (real) => ({
    append: (session, lines, o) => real.append(session, lines.length > 1 ? lines.slice(0, -1) : lines, o),
  })),
  mutant("accepts a head of a deleted and remade log", ["DELETE-05", "REPLACE-04"], (real) => ({
    async append(session, lines, o) {
      const head = await current(real, session)
      const fits = o.expect !== 0 && head !== 0 && head.next === o.expect?.next
      return real.append(session, lines, fits ? { ...o, expect: head } : o)
    },
  })),
  mutant("lists the first 1,000 only", ["LIST-02"], (real) => ({
    list: (o = {}) => real.list({ ...o, limit: Math.min(o.limit ?? 1_000, 1_000) }),
  })),
  mutant("counts characters as bytes", ["HEAD-02", "HEAD-03"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      const lines = await linesOf(real, session)
      return head && { ...head, bytes: lines.reduce((sum, line) => sum + line.length + 1, 0) }
    },
  })),
  {
    subject: {
      ...plain,
      name: "measures lines in characters",
      open(location) {
        const max = 100_000
        const real = createMemoryStorage({ location })
        return {
          ...real,
          capabilities: { ...real.capabilities, maxLineBytes: max },
          async append(session, lines, o) {
            if (lines.some((line) => line.length > max)) throw new StorageError("invalid", "Too long.")
            return real.append(session, lines, o)
          },
        }
      },
    },
    fails: ["LIMITS-02"],
  },
  reading("strips a BOM", ["APPEND-03", "APPEND-04"], (line) => [line.replace(/^\uFEFF/, "")]),
  reading("strips a CR", ["APPEND-03", "APPEND-04"], (line) => [line.replace(/\r$/, "")]),
  reading("splits on U+2028", ["APPEND-03", "APPEND-04"], (line) => line.split("\u2028")),
  reading("parses and writes again", ["APPEND-03", "APPEND-04"], (line) => [
    JSON.stringify(JSON.parse(line.replace(/^\uFEFF/, ""))),
  ]),
  mutant("brings back what was deleted, under its old head", ["DELETE-04", "DELETE-09"], (real, location) => {
    const deleted = deletedOf(location)
    return {
      async delete(session, o) {
        deleted.set(session, await linesOf(real, session))
        return real.delete(session, o)
      },
      async append(session, lines, o) {
        const old = deleted.get(session)
        const gone = o.expect !== 0 && old !== undefined && (await real.head(session)) === undefined
        return real.append(session, gone ? [...old, ...lines] : lines, gone ? { ...o, expect: 0 } : o)
      },
    }
  }),
  mutant("brings back what was deleted, with the next creation", ["DELETE-05", "DELETE-06"], (real, location) => {
    const deleted = deletedOf(location)
    return {
      async delete(session, o) {
        deleted.set(session, await linesOf(real, session))
        return real.delete(session, o)
      },
      append: (session, lines, o) =>
        real.append(session, o.expect === 0 ? [...(deleted.get(session) ?? []), ...lines] : lines, o),
    }
  }),
  mutant("leaves documents behind", ["DELETE-06", "DELETE-07"], (real) => ({
    async delete(session, o) {
      const kept: [string, Doc | undefined][] = []
      for (const key of isSessionId(session) ? await collect(real.docs.list(`sessions/${session}/`)) : []) {
        kept.push([key, await real.docs.get(key)])
      }
      const result = await real.delete(session, o)
      for (const [key, doc] of kept) await real.docs.put(key, doc?.text ?? "", { expect: null })
      return result
    },
  })),
  mutant("gives the last lines newest first", ["READ-03", "READ-09"], (real) => ({
    async *read(session, range, o) {
      const newestFirst = range !== undefined && "last" in range
      for await (const { from, lines } of real.read(session, range, o)) {
        yield { from, lines: newestFirst ? lines.toReversed() : lines }
      }
    },
  })),
  mutant("reads on in a log that is gone", ["READ-11", "READ-12", "REPLACE-05"], (real) => ({
    async *read(session, range, o) {
      const chunks: Chunk[] = []
      for await (const chunk of real.read(session, range, o)) chunks.push(chunk)
      yield* chunks
    },
  })),
  mutant("pages by time, so that a remade log goes on in the old one", ["READ-12", "REPLACE-05"], (real) => ({
    async *read(session, range, o) {
      const all = await linesOf(real, session, range, o)
      const from = range !== undefined && "from" in range ? (range.from ?? 0) : 0
      for (let seq = 0; seq < all.length; seq += 100) {
        const lines = await linesOf(real, session, { from: from + seq, to: from + Math.min(seq + 100, all.length) })
        if (lines.length > 0) yield { from: from + seq, lines }
      }
    },
  })),
  mutant("has one version for texts of one size", ["DOCS-04"], (real, location) => ({
    docs: {
      ...real.docs,
      async get(key, o) {
        const doc = await real.docs.get(key, o)
        return doc && { text: doc.text, version: String(doc.text.length) }
      },
      async put(key, text, o) {
        const stored = location.docs.get(key)
        const fits = stored !== undefined && o.expect === String(stored.text.length)
        await real.docs.put(key, text, fits ? { ...o, expect: stored.version } : o)
        return String(text.length)
      },
    },
  })),
  mutant("does not make a blob young again", ["BLOBS-05", "BLOBS-08"], (real, location) => ({
    blobs: {
      ...real.blobs,
      async put(bytes, o) {
        const before = new Map(location.blobs)
        const hash = await real.blobs.put(bytes, o)
        const old = before.get(hash)
        if (old !== undefined) location.blobs.set(hash, old)
        return hash
      },
    },
  })),
  mutant("deletes blobs whatever their age", ["BLOBS-07", "BLOBS-08"], (real) => ({
    blobs: {
      ...real.blobs,
      delete: (hash, o) => real.blobs.delete(hash, { ...(o?.signal !== undefined && { signal: o.signal }) }),
    },
  })),
  mutant("keeps the array that it was given", ["BLOBS-11"], (real) => ({
    blobs: {
      ...real.blobs,
      async put(bytes, o) {
        await Promise.resolve()
        return real.blobs.put(bytes, o)
      },
    },
  })),
  mutant("does not check ids", ["CREATE-05"], (real) => ({
    append: (session, lines, o) =>
      real.append(typeof session === "string" ? session.replaceAll(/\W/g, "0") || "0" : "0", lines, o),
  })),
  mutant("merges ids that differ in case only", ["CREATE-07"], (real) => ({
    append: (session, lines, o) => real.append(lower(session), lines, o),
    head: (session, o) => real.head(lower(session), o),
    read: (session, range, o) => real.read(lower(session), range, o),
    delete: (session, o) => real.delete(lower(session), o),
  })),
  mutant("ignores after", ["LIST-05"], (real) => ({
    list: ({ limit, signal } = {}) => real.list({ ...(limit !== undefined && { limit }), ...(signal && { signal }) }),
  })),
  mutant("latches after a conflict", ["APPEND-10", "CAS-01"], (real) => {
    let latched: unknown
    return {
      async append(session, lines, o) {
        if (latched !== undefined) throw latched
        return real.append(session, lines, o).catch((error: unknown) => {
          if (hasCode(error, "conflict")) latched = error
          throw error
        })
      },
    }
  }),
  mutant("loses the info's next", ["HEAD-05"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      return head?.info === undefined ? head : { ...head, info: { text: head.info.text, next: head.next } }
    },
  })),
  mutant("works on after its dispose", ["OPEN-06"], () => ({ async [Symbol.asyncDispose]() {} })),
  mutant("ignores signals", ["APPEND-14", "READ-14", "WATCH-04"], (real) => ({
    append: (session, lines, { expect, info }) =>
      real.append(session, lines, { expect, ...(info !== undefined && { info }) }),
    read: (session, range) => real.read(session, range),
    ...(real.watch !== undefined && { watch: (session: string): AsyncIterable<Head> => watching(real, session) }),
  })),
  mutant("replaces by deleting first", ["REPLACE-03", "REPLACE-06", "REPLACE-07"], (real) => ({
    async replace(session, chunks) {
      await real.delete(session)
      const lines: string[] = []
      for await (const chunk of chunks) lines.push(...chunk.lines)
      return real.append(session, lines, { expect: 0 })
    },
  })),
  {
    subject: {
      ...plain,
      name: "replaces though it says it cannot",
      open: (location) => overridden(plain, location, ["replace", "watch"]),
    },
    fails: ["REPLACE-12", "WATCH-08"],
  },
  {
    subject: tearing("glues the next append to a torn line", (torn, [first, ...rest]) => [`${torn}${first}`, ...rest]),
    fails: ["TAILS-02", "TAILS-03"],
  },
  {
    subject: tearing("makes a line of a torn one", (torn, lines) => [torn, ...lines]),
    fails: ["TAILS-02", "TAILS-03"],
  },
  { subject: crashing("acknowledges what it has in memory", true), fails: ["RECOVER-01"] },
  {
    subject: faulty(
      "reports a conflict for its own retry",
      async () => {
        throw new StorageError("conflict", "Another writer was there first.")
      },
      refusesWhole,
    ),
    fails: ["RECOVER-04"],
  },
  {
    subject: faulty(
      "writes again what it did not hear of",
      async (real, session, lines) => real.append(session, lines, { expect: await current(real, session) }),
      refusesWhole,
    ),
    fails: ["RECOVER-04"],
  },
  {
    subject: faulty("leaves half a batch on a full disk", looksForItsOwn, async (real, session, lines, o) => {
      await real.append(session, lines.slice(0, 7), o)
      throw new StorageError("quota", "There is no room.")
    }),
    fails: ["RECOVER-03"],
  },
]

function mutant(name: string, fails: readonly string[], changes: Changes): Mutant {
  return { subject: changed(name, changes), fails }
}

function reading(name: string, fails: readonly string[], change: (line: string) => readonly string[]): Mutant {
  return mutant(name, fails, (real) => ({
    async *read(session, range, o) {
      for await (const { from, lines } of real.read(session, range, o)) yield { from, lines: lines.flatMap(change) }
    },
  }))
}

const deletedOf = perLocation(() => new Map<string, string[]>())

async function current(real: SessionStorage, session: string): Promise<0 | Head> {
  const head = await real.head(session)
  return head === undefined ? 0 : { next: head.next, log: head.log }
}

async function linesOf(real: SessionStorage, ...args: Parameters<SessionStorage["read"]>): Promise<string[]> {
  return (await collect(real.read(...args))).flatMap(({ lines }) => lines)
}

function lower(session: string): string {
  return typeof session === "string" ? session.toLowerCase() : session
}

function watching(real: SessionStorage, session: string): AsyncIterable<Head> {
  if (real.watch === undefined) throw new TypeError("There is no watch.")
  return real.watch(session)
}

/** A storage of the subject with memory's own methods in the place of some. */
async function overridden(
  subject: Subject<MemoryLocation>,
  location: MemoryLocation,
  methods: readonly (keyof SessionStorage)[],
): Promise<SessionStorage> {
  const real = createMemoryStorage({ location })
  return { ...(await subject.open(location)), ...Object.fromEntries(methods.map((name) => [name, real[name]])) }
}
