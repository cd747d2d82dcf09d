/** Checks the values of options that take a number or one of several words. */
import { UsageError } from "./errors.ts"

/** A whole number from `min` to `max`; undefined if the option is missing. */
export function integerOption(
  name: string,
  text: string | undefined,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`
  throw new UsageError(`--${name} must be a whole number ${range}, not ${JSON.stringify(text)}.`)
}

/** One of `choices`; `fallback` if the option is missing. */
export function choiceOption<T extends string, F extends T | undefined>(
  name: string,
  text: string | undefined,
  choices: readonly T[],
  fallback: F,
): T | F {
  if (text === undefined) return fallback
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not ${JSON.stringify(text)}.`)
}
