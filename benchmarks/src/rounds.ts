/** How a measurement is taken, in a page as in a process: ours and the raw loop in turns, so that a machine that drifts drifts under both. */

/** A spread needs at least five. `compare.ts` sets fewer, since it repeats whole runs. In a page there is no `process`. */
export const ROUNDS = Number(globalThis.process?.env["BENCH_ROUNDS"] ?? 7)

export interface Pair {
  readonly ours: readonly number[]
  readonly raw: readonly number[]
}

/**
 * Each work is given the round and gives its time; the first round warms up and does not count. Ours comes first in that one, and after
 * it in every other: what one leaves to do for the machine is met by either.
 */
export async function inTurns(
  work: { readonly ours: Timed; readonly raw: Timed },
  rounds: number = ROUNDS,
): Promise<Pair> {
  const ours: number[] = []
  const raw: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const sides = [
      { times: ours, take: work.ours },
      { times: raw, take: work.raw },
    ]
    for (const { times, take } of round % 2 === 0 ? sides : sides.toReversed()) {
      const time = await take(round)
      if (round > 0) times.push(time)
    }
  }
  return { ours, raw }
}

type Timed = (round: number) => Promise<number> | number

export async function milliseconds(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** What the set-up promised is there: a benchmark of the wrong thing is worse than none. */
export function verify(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The benchmark measured the wrong thing: ${what}.`)
}
