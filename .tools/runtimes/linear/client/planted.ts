/** Storages with one defect each, which the checker must find. Each defect shows in few calls only. */
import { type Chunk, type Head, hasStorageCode, type SessionStorage } from "@sessions/core/storage"
import type { Dice } from "../../../../packages/core/test/dice.ts"

export const DEFECTS = [
  "stale-read",
  "lost-update",
  "doubled-append",
  "mixed-read",
  "lost-in-replace",
  "undeleted",
] as const
export type Defect = (typeof DEFECTS)[number]

/** Those that only show when the log is replaced or deleted. */
export const RESET_DEFECTS: ReadonlySet<Defect> = new Set(["mixed-read", "lost-in-replace", "undeleted"])

export function withDefect(defect: Defect, storage: SessionStorage, random: Dice): SessionStorage {
  return { ...storage, ...PLANTS[defect](storage, random) }
}

type Plant = (real: SessionStorage, random: Dice) => Partial<SessionStorage>

const PLANTS: Readonly<Record<Defect, Plant>> = {
  /** Some reads are answered from what the read before them found: a cache that is not compared with the store. */
  "stale-read": (real, random) => {
    let cached: readonly Chunk[] | undefined
    return {
      async *read(session, range, o) {
        if (cached === undefined || random.next() > 0.1) cached = await chunksOf(real.read(session, {}, o))
        const { from = 0 } = range as { from?: number }
        for (const chunk of cached) {
          const lines = chunk.lines.slice(Math.max(0, from - chunk.from))
          if (lines.length > 0) yield { from: Math.max(from, chunk.from), lines }
        }
      },
    }
  },

  /** Some appends that lost a race are acknowledged: the store compared the head before the other writer wrote, not when it wrote. */
  "lost-update": (real, random) => ({
    async append(session, lines, o) {
      try {
        return await real.append(session, lines, o)
      } catch (error) {
        const { expect } = o
        if (expect === 0 || !hasStorageCode(error, "conflict") || random.next() > 0.1) throw error
        return { next: expect.next + lines.length, log: expect.log }
      }
    },
  }),

  /** Some appends are sent again although they were applied: a client that takes a lost answer for a lost request. */
  "doubled-append": (real, random) => ({
    async append(session, lines, o) {
      const head = await real.append(session, lines, o)
      if (random.next() < 0.05) await real.append(session, lines, { expect: head }).catch(() => undefined)
      return head
    },
  }),

  /** Some reads begin with a line that an earlier one found at its place: a cache of lines that does not name their log. */
  "mixed-read": (real, random) => {
    const cached = new Map<number, string>()
    return {
      async *read(session, range, o) {
        const [first, ...rest] = await chunksOf(real.read(session, range, o))
        if (first === undefined) return
        const old = random.next() < 0.5 ? cached.get(first.from) : undefined
        for (const [index, line] of first.lines.entries()) cached.set(first.from + index, line)
        yield old === undefined ? first : { from: first.from, lines: [old, ...first.lines.slice(1)] }
        yield* rest
      },
    }
  },

  /** Replaces whose head is too old replace the log nevertheless: the head was compared before the lines were written, not after. */
  "lost-in-replace": (real) => ({
    async replace(session, chunks, o) {
      const all = await chunksOf(chunks)
      for (let { expect } = o; ; ) {
        try {
          return (await real.replace?.(session, again(all), { ...o, expect })) as Head
        } catch (error) {
          const now = await real.head(session)
          if (!hasStorageCode(error, "conflict") || now?.log !== expect.log) throw error
          expect = { next: now.next, log: now.log }
        }
      }
    },
  }),

  /** Some deletes are acknowledged although they did nothing. */
  undeleted: (real, random) => ({
    delete: async (session, o) =>
      random.next() < 0.3 ? { bytes: 0, parts: 0, purged: true } : await real.delete(session, o),
  }),
}

async function* again(chunks: readonly Chunk[]): AsyncIterable<Chunk> {
  yield* chunks
}

async function chunksOf(chunks: AsyncIterable<Chunk>): Promise<readonly Chunk[]> {
  const all: Chunk[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}
