import * as fc from "fast-check"

/** One seed for all properties of a run; `SEED=… vitest run …` repeats it. */
export const seed: number = Number(process.env["SEED"] ?? Date.now() % 2 ** 31)

/** How often each property is tried; `FC_RUNS=…` overrides the number in a test. */
const manyRuns: string | undefined = process.env["FC_RUNS"]

/**
 * Checks a property with the run's seed, and prints the seed. Properties of the same values see others with another `shift`;
 * `found` are earlier counterexamples, which come first.
 */
export function holds<Ts>(property: fc.IProperty<Ts>, runs = 100, shift = 0, found: readonly Ts[] = []): void {
  console.info(`SEED=${seed}`)
  const numRuns = Number(manyRuns ?? runs) + found.length
  fc.assert(property, { seed: seed + shift, numRuns, examples: [...found] })
}

export async function holdsAsync<Ts>(
  property: fc.IAsyncProperty<Ts>,
  runs = 100,
  found: readonly Ts[] = [],
): Promise<void> {
  console.info(`SEED=${seed}`)
  await fc.assert(property, { seed, numRuns: Number(manyRuns ?? runs) + found.length, examples: [...found] })
}
