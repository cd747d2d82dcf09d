import type { Chunk } from "@sessions/core/storage"
import { StorageError } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { plain } from "../variants.ts"
import type { Mutant } from "./mutant.ts"
import { linesOf, mutant } from "./mutant.ts"

/** Wrong in what they give back of a log. */
export const readingMutants: readonly Mutant[] = [
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
