/** Checks the values of options that take a number or one of a few words. */
import { UsageError } from "./errors.ts"

/** A whole number of at least `least`; undefined where the option was not given. */
export function integerOption(
  name: string,
  text: string | undefined,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= least && value <= most) return value
  const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`
  throw new UsageError(`--${name} takes a whole number ${range}, not ${JSON.stringify(text)}.`)
}

/** One of the known words, else `fallback` where the option was not given. */
export function choiceOption<T extends string>(
  name: string,
  text: string | undefined,
  known: readonly T[],
  fallback: T,
): T {
  if (text === undefined) return fallback
  const found = known.find((choice) => choice === text)
  if (found !== undefined) return found
  throw new UsageError(`--${name} takes ${known.join(", ")}, not ${JSON.stringify(text)}.`)
}
