/** Storages with one defect each, which the checker must find. Each defect shows in few calls only. */
import { type Chunk, hasStorageCode, type SessionStorage } from "@sessions/core/storage"
import type { Dice } from "../../../../packages/core/test/dice.ts"

export const DEFECTS = ["stale-read", "lost-update", "doubled-append"] as const
export type Defect = (typeof DEFECTS)[number]

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
}

async function chunksOf(chunks: AsyncIterable<Chunk>): Promise<readonly Chunk[]> {
  const all: Chunk[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}
