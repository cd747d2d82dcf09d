/** Mutants of `append`, `delete`, `replace` and the checks of ids. */
import { hasStorageCode, type Head, lineMark } from "@sessions/core/storage"
import { perLocation } from "./sound-subjects.ts"
import { current, ids, linesOf, type Mutant, mutant } from "./mutant.ts"

const deletedOf = perLocation(() => new Map<string, string[]>())

export const writingMutants: readonly Mutant[] = [
  mutant(
    "ignores expect",
    ids("OPEN 08, CREATE 02 04, APPEND 09 10, CAS 01 02 03 04 05 06 07 08 09 10, DELETE 04 05 09 17, REPLACE 04"),
    (real) => ({
      async append(session, lines, o) {
        for (;;) {
          const expect = await current(real, session)
          try {
            return await real.append(session, lines, { ...o, expect })
          } catch (error) {
            if (!hasStorageCode(error, "conflict")) throw error
          }
        }
      },
    }),
  ),
  mutant(
    "checks, then writes",
    ["CREATE-04", "APPEND-09", "CAS-06", "CAS-08", "REPLACE-10", "DELETE-17", "CAS-09", "CAS-10"],
    (real) => ({
      async append(session, lines, o) {
        const head = await current(real, session)
        const same =
          head === 0 || o.expect === 0 ? head === o.expect : head.next === o.expect.next && head.log === o.expect.log
        await new Promise((resolve) => setTimeout(resolve, 1))
        return real.append(session, lines, same ? { ...o, expect: await current(real, session) } : o)
      },
    }),
  ),
  mutant(
    "acknowledges before it commits",
    ids(
      "OPEN 04 06 08, CREATE 05, APPEND 01 02 04 06 07 09 10 11 12 13 14 15, CAS 01 02 03 04 05 06 07 08 09 10, HEAD 02 05 06, READ 02 03 08 16 19 21, DELETE 04 05 17, SYNC 01, WATCH 01 02 03, REPLACE 01 03 04 10",
    ),
    (real) => {
      let commit = async (): Promise<unknown> => undefined
      return {
        async append(session, lines, o) {
          await commit()
          commit = async () => undefined
          if (o.expect === 0 || lines.length === 0) return real.append(session, lines, o)
          const { expect } = o
          commit = () => real.append(session, lines, o).catch(() => undefined)
          return { log: expect.log, next: expect.next + lines.length }
        },
        async [Symbol.asyncDispose]() {
          await commit()
          await real[Symbol.asyncDispose]()
        },
      }
    },
  ),
  mutant(
    "drops the last line of a batch",
    ids(
      "OPEN 04 05, CREATE 01 02 03 04 06, APPEND 01 02 03 05 06 07 08 09 10 14 15, CAS 01 02 03 05 06 07 09 10, HEAD 02 03 05 06, READ 01 02 03 07 08 09 10 13 16 17 18 19 21 22 24, LIST 08, DELETE 01 05 10 11 12 16 17, SYNC 01, WATCH 02 03, REPLACE 03 06 07 10 11",
    ),
    (real) => ({
      append: (session, lines, o) => real.append(session, lines.length > 1 ? lines.slice(0, -1) : lines, o),
    }),
  ),
  mutant(
    "accepts a head of a deleted and recreated log",
    ["OPEN-08", "APPEND-09", "CAS-02", "CAS-05", "DELETE-05", "REPLACE-04", "CAS-09", "CAS-10"],
    (real) => ({
      async append(session, lines, o) {
        const head = await current(real, session)
        const fits = o.expect !== 0 && head !== 0 && head.next === o.expect?.next
        return real.append(session, lines, fits ? { ...o, expect: head } : o)
      },
    }),
  ),
  mutant("restores a deleted log for an append with its old head", ["DELETE-04", "DELETE-09"], (real, location) => {
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
  mutant("restores a deleted log with the next creation", ["DELETE-05", "DELETE-06", "READ-22"], (real, location) => {
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
  mutant("compares no mark", ["CAS-09", "CAS-10", "APPEND-09"], (real) => ({
    append: (session, lines, o) =>
      real.append(session, lines, o.expect === 0 ? o : { ...o, expect: { next: o.expect.next, log: o.expect.log } }),
  })),
  mutant("compares the marks of its own lines alone", ["CAS-10"], (real) => {
    const own = new Set<string>()
    return {
      async append(session, lines, o) {
        const expect = o.expect === 0 || own.has(session) ? o.expect : { next: o.expect.next, log: o.expect.log }
        const head = await real.append(session, lines, { ...o, expect })
        own.add(session)
        return head
      },
    }
  }),
  mutant("takes the mark of a batch from its first line", ["CAS-09", "APPEND-09"], (real) => {
    const marks = new Map<string, readonly [right: number, wrong: number]>()
    return {
      async append(session, lines, o) {
        const [right, wrong] = marks.get(session) ?? []
        const { mark } = o.expect === 0 ? {} : o.expect
        const isSame = mark === undefined || right === undefined || mark === wrong || mark !== right
        const expect = o.expect === 0 || isSame ? o.expect : { ...o.expect, mark: ~mark }
        const head = await real.append(session, lines, { ...o, expect })
        marks.set(session, [lineMark(lines.at(-1) ?? ""), lineMark(lines[0] ?? "")])
        return head
      },
    }
  }),
  mutant("deletes whatever the head is", ["DELETE-16", "DELETE-17", "DELETE-19"], (real) => ({
    delete: (session, { signal } = {}) => real.delete(session, signal === undefined ? {} : { signal }),
  })),
  mutant("deletes whatever the mark is", ["DELETE-19"], (real) => ({
    delete: (session, { expect, ...o } = {}) =>
      real.delete(session, expect === undefined ? o : { ...o, expect: { next: expect.next, log: expect.log } }),
  })),
  mutant("compares the head, then deletes", ["DELETE-17", "DELETE-19"], (real) => ({
    async delete(session, { expect, ...o } = {}) {
      const head = expect && (await current(real, session))
      const same = head === undefined || (head !== 0 && head.next === expect?.next && head.log === expect.log)
      await new Promise((resolve) => setTimeout(resolve, 1))
      return real.delete(session, same ? o : { ...o, expect: expect as Head })
    },
  })),
  mutant("sweeps away blobs", ["DELETE-18"], (real) => ({
    async sweep({ dryRun } = {}) {
      for await (const { hash } of real.blobs.list()) if (dryRun !== true) await real.blobs.delete(hash)
      return { removed: 0, bytes: 0, left: 0 }
    },
  })),
  mutant("does not check ids", ["CREATE-05", "CREATE-06", "CREATE-08", "DELETE-08"], (real) => ({
    append: (session, lines, o) =>
      real.append(typeof session === "string" ? session.replaceAll(/\W/g, "0") || "0" : "0", lines, o),
  })),
  mutant("merges ids that differ in case only", ["CREATE-06", "CREATE-07", "DELETE-08", "DOCS-09"], (real) => ({
    append: (session, lines, o) => real.append(lower(session), lines, o),
    head: (session, o) => real.head(lower(session), o),
    read: (session, range, o) => real.read(lower(session), range, o),
    delete: (session, o) => real.delete(lower(session), o),
  })),
  mutant("writes `_` for what its names cannot hold", ["CREATE-06", "CREATE-08", "CREATE-05"], (real) => ({
    append: (session, lines, o) => real.append(named(session), lines, o),
    head: (session, o) => real.head(named(session), o),
    read: (session, range, o) => real.read(named(session), range, o),
    delete: (session, o) => real.delete(named(session), o),
  })),
  mutant("takes an `@` in a key of a document for the end of the id", ["CREATE-08", "CREATE-05"], (real) => ({
    docs: {
      ...real.docs,
      get: (key, o) => real.docs.get(cut(key), o),
      put: (key, text, o) => real.docs.put(cut(key), text, o),
    },
  })),
  mutant(
    "refuses everything after a conflict",
    [
      "APPEND-10",
      "APPEND-15",
      "CAS-01",
      "CAS-06",
      "CAS-07",
      "CAS-08",
      "DELETE-05",
      "DELETE-09",
      "DELETE-17",
      "CAS-09",
      "CAS-10",
    ],
    (real) => {
      let latched: unknown
      return {
        async append(session, lines, o) {
          if (latched !== undefined) throw latched
          return real.append(session, lines, o).catch((error: unknown) => {
            if (hasStorageCode(error, "conflict")) latched = error
            throw error
          })
        },
      }
    },
  ),
  mutant(
    "replaces by deleting first",
    ["REPLACE-03", "REPLACE-04", "REPLACE-06", "REPLACE-07", "REPLACE-08", "REPLACE-10", "REPLACE-11"],
    (real) => ({
      async replace(session, chunks) {
        await real.delete(session)
        const lines: string[] = []
        for await (const chunk of chunks) lines.push(...chunk.lines)
        return real.append(session, lines, { expect: 0 })
      },
    }),
  ),
]

function lower(session: string): string {
  return typeof session === "string" ? session.toLowerCase() : session
}

function named(session: string): string {
  return typeof session === "string" ? session.replaceAll(/[:@+~]/g, "_") : session
}

function cut(key: string): string {
  return typeof key === "string" ? key.replace(/^(sessions\/[\w-]+)@[^/]*/, "$1") : key
}
