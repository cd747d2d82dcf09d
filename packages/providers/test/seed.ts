import type * as fc from "fast-check"

/** The number of runs, and the seed that a failure printed, from SEED. */
export function withSeed(numRuns: number): fc.Parameters<unknown> {
  const seed = process.env["SEED"]
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) }
}
