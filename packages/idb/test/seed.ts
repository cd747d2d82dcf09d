/** Property tests whose seed can be set. */
import * as fc from "fast-check"

const SEED: string | undefined = (globalThis as { process?: { env?: Record<string, string> } }).process?.env?.["SEED"]

/** Runs a property. A failure prints its seed; SEED sets it. */
export function seeded<T>(property: fc.IProperty<T>, runs = 200): void {
  fc.assert(property, withSeed(runs))
}

export async function seededAsync<T>(property: fc.IAsyncProperty<T>, runs: number): Promise<void> {
  await fc.assert(property, withSeed(runs))
}

function withSeed(numRuns: number): fc.Parameters<unknown> {
  return SEED === undefined ? { numRuns } : { numRuns, seed: Number(SEED) }
}
