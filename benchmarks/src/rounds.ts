/** Measures ours and the raw loop alternately, so that changes of the machine's speed affect both. Runs in processes and in pages. */

/** A spread needs at least five. `compare.ts` sets fewer, since it repeats whole runs. In a page there is no `process`. */
export const ROUNDS = Number(globalThis.process?.env["BENCH_ROUNDS"] ?? 7)

export interface Pair {
  readonly ours: readonly number[]
  readonly raw: readonly number[]
}

/**
 * Each function gets the round and returns its time. The first round warms up and does not count. The order changes with each round, so
 * that work which one leaves behind (garbage, dirty pages) slows down both.
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

/** Throws if the benchmark did not do the work it is meant to measure. */
export function verify(holds: boolean, what: string): void {
  if (!holds) throw new Error(`The benchmark measured the wrong thing: ${what}.`)
}
