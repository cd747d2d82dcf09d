/** How a measurement is taken, in a page as in a process: ours and the raw loop in turns, so that a machine that drifts drifts under both. */

/** At least five are needed to speak of a spread. */
export const ROUNDS = 7

export interface Pair {
  readonly ours: readonly number[]
  readonly raw: readonly number[]
}

/** Each work is given the round and gives its time; the first round warms up and does not count. */
export async function inTurns(
  work: { readonly ours: Timed; readonly raw: Timed },
  rounds: number = ROUNDS,
): Promise<Pair> {
  const ours: number[] = []
  const raw: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const one = await work.ours(round)
    const other = await work.raw(round)
    if (round === 0) continue
    ours.push(one)
    raw.push(other)
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
