/** Checks the values of options that take a number, one of several words, a size or an age. */
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

const SIZES: Readonly<Record<string, number>> = { KB: 1e3, MB: 1e6, GB: 1e9 }

/** A size such as 500MB or 2GB, in bytes; undefined if the option is missing. */
export function sizeOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit = ""] = /^(\d{1,6})([KMG]B)$/.exec(text) ?? []
  const bytes = Number(count) * (SIZES[unit] ?? 0)
  if (bytes > 0) return bytes
  throw new UsageError(`--${name} must be a size such as 500MB or 2GB, not ${JSON.stringify(text)}.`)
}

const HOUR_MS = 3_600_000
const UNITS: Readonly<Record<string, number>> = { h: HOUR_MS, d: 24 * HOUR_MS, w: 7 * 24 * HOUR_MS }

/** An age such as 12h, 30d or 8w, in milliseconds; undefined if the option is missing. */
export function ageOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit = ""] = /^(\d{1,5})([hdw])$/.exec(text) ?? []
  const ms = UNITS[unit]
  if (ms !== undefined) return Number(count) * ms
  throw new UsageError(`--${name} must be an age such as 12h, 30d or 8w, not ${JSON.stringify(text)}.`)
}
