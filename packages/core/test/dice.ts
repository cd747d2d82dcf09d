/** The random numbers of a simulation or of a test that kills processes, from its seed. */
export interface Dice {
  /** From 0 (inclusive) to 1 (exclusive). */
  readonly next: () => number
  /** A whole number from 0 to below `n`. */
  readonly below: (n: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <T>(options: readonly T[]) => T
}

/** mulberry32. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (n: number): number => Math.floor(next() * n)
  return { next, below, chance: (p) => next() < p, pick: (options) => options[below(options.length)] as never }
}
