import * as fc from "fast-check"

/** Runs a property; the seed is printed with a failure, and taken from SEED where that is set. */
export function seeded<T>(property: fc.IProperty<T>, runs = 300): void {
  fc.assert(property, withSeed(runs))
}

/** For a property that is run by hand. */
export function withSeed(numRuns: number): fc.Parameters<unknown> {
  const seed = process.env["SEED"]
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) }
}
