import type { Chunk } from "@sessions/core/storage"
import { isSessionId, StorageError } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { plain, corrupting } from "./sound-subjects.ts"
import type { Mutant } from "./mutant.ts"
import { ids, linesOf, mutant } from "./mutant.ts"

/** Wrong in what they give back of a log. */
export const readingMutants: readonly Mutant[] = [
  {
    subject: corrupting("reads bytes that are no UTF-8 as other characters", (line) => `\ufffd${line.slice(1)}`),
    fails: ["READ-15"],
  },
  mutant("lists the first 1,000 only", ["LIST-02", "LIST-06"], (real) => ({
    list: (o = {}) => real.list({ ...o, limit: Math.min(o.limit ?? 1_000, 1_000) }),
  })),
  mutant("counts characters as bytes", ["HEAD-02", "HEAD-03", "DELETE-03"], (real) => ({
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
    fails: ["APPEND-06", "APPEND-07", "READ-07", "LIMITS-02"],
  },
  reading("strips a BOM", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => [line.replace(/^\uFEFF/, "")]),
  reading("strips a CR", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => [line.replace(/\r$/, "")]),
  reading("splits on U+2028", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => line.split("\u2028")),
  reading("parses and writes again", ["APPEND-03", "APPEND-04", "APPEND-05"], (line) => [
    JSON.stringify(JSON.parse(line.replace(/^\uFEFF/, ""))),
  ]),
  mutant("gives the last lines newest first", ["READ-03", "READ-07", "READ-09"], (real) => ({
    async *read(session, range, o) {
      const newestFirst = range !== undefined && "last" in range
      for await (const { from, lines } of real.read(session, range, o)) {
        yield { from, lines: newestFirst ? lines.toReversed() : lines }
      }
    },
  })),
  mutant("reads on in a log that is gone", ["READ-11", "READ-12", "READ-14", "REPLACE-05"], (real) => ({
    async *read(session, range, o) {
      const chunks: Chunk[] = []
      for await (const chunk of real.read(session, range, o)) chunks.push(chunk)
      yield* chunks
    },
  })),
  mutant(
    "pages by time, so that a remade log goes on in the old one",
    ids("APPEND 06, READ 03 07 08 09 11 12 14, REPLACE 05"),
    (real) => ({
      async *read(session, range, o) {
        const all = await linesOf(real, session, range, o)
        const from = range !== undefined && "from" in range ? (range.from ?? 0) : 0
        for (let seq = 0; seq < all.length; seq += 100) {
          const lines = await linesOf(real, session, { from: from + seq, to: from + Math.min(seq + 100, all.length) })
          if (lines.length > 0) yield { from: from + seq, lines }
        }
      },
    }),
  ),
  mutant(
    "yields an empty chunk for a range without lines",
    ids("OPEN 03 08, CREATE 07, APPEND 07 08 14, CAS 04, READ 04 06, DELETE 01 02 04 09 11, REPLACE 03 08"),
    (real) => ({
      async *read(session, range, o) {
        let some = false
        for await (const chunk of real.read(session, range, o)) {
          some = true
          yield chunk
        }
        if (!some) yield { from: 0, lines: [] }
      },
    }),
  ),
  mutant("makes a range of what is none", ["READ-05"], (real) => ({
    read(session, range, o) {
      const numbers = Object.entries(range ?? {}).map(([name, value]) => [name, Math.max(0, Math.trunc(value) || 0)])
      return real.read(
        session,
        "last" in (range ?? {}) || !("before" in (range ?? {})) ? Object.fromEntries(numbers) : {},
        o,
      )
    },
  })),
  mutant(
    "fails to read what is not there",
    ids("OPEN 03 08, CREATE 07, APPEND 07 08 14, CAS 04, READ 06, DELETE 01 02 04 09 11, REPLACE 03 08"),
    (real) => ({
      async *read(session, range, o) {
        if (isSessionId(session) && (await real.head(session)) === undefined)
          throw new StorageError("conflict", "There is no such session.")
        yield* real.read(session, range, o)
      },
    }),
  ),
  mutant("ignores after", ["LIST-05"], (real) => ({
    list: ({ limit, signal } = {}) => real.list({ ...(limit !== undefined && { limit }), ...(signal && { signal }) }),
  })),
  mutant("loses the info's next", ["HEAD-05"], (real) => ({
    async head(session, o) {
      const head = await real.head(session, o)
      return head?.info === undefined ? head : { ...head, info: { text: head.info.text, next: head.next } }
    },
  })),
]

function reading(name: string, fails: readonly string[], change: (line: string) => readonly string[]): Mutant {
  return mutant(name, fails, (real) => ({
    async *read(session, range, o) {
      for await (const { from, lines } of real.read(session, range, o)) yield { from, lines: lines.flatMap(change) }
    },
  }))
}
