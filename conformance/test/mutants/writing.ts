import { hasCode } from "@sessions/core/storage"
import { perLocation } from "../variants.ts"
import type { Mutant } from "./mutant.ts"
import { current, linesOf, mutant } from "./mutant.ts"

const deletedOf = perLocation(() => new Map<string, string[]>())

/** Wrong in what they take and keep. */
export const writingMutants: readonly Mutant[] = [
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
  mutant("replaces by deleting first", ["REPLACE-03", "REPLACE-06", "REPLACE-07"], (real) => ({
    async replace(session, chunks) {
      await real.delete(session)
      const lines: string[] = []
      for await (const chunk of chunks) lines.push(...chunk.lines)
      return real.append(session, lines, { expect: 0 })
    },
  })),
]

function lower(session: string): string {
  return typeof session === "string" ? session.toLowerCase() : session
}
