import { encodeTime, monotonicFactory } from "ulid"

export { checkSessionId, isSessionId } from "../storage/checks.ts"

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const RANDOM_DIGITS = 16
/** The largest time that the 48 bits of a ULID hold. */
const LAST_TIME = 2 ** 48 - 1

/** Whether a text is a ULID as this project makes them: 26 characters of Crockford's base 32, upper case. */
export function isUlid(text: unknown): text is string {
  return typeof text === "string" && ULID.test(text)
}

/**
 * A source of ULIDs, each greater than the one before it, also within one millisecond and when the clock goes backwards.
 * A clock that stands before 1970 counts as its first millisecond.
 */
export function createIds(clock: () => number = Date.now): () => string {
  const next = monotonicFactory(createRandom())
  return () => next(clampTime(clock(), 1))
}

/**
 * The ULID that depends on a time and an index alone, so that every load of an old log gives its entries the same ids. Order of
 * the ids is the order of time, then index. A time that is none counts as 0.
 */
export function ulidAt(time: number, index: number): string {
  let random = ""
  for (let rest = index; random.length < RANDOM_DIGITS; rest = Math.floor(rest / 32)) {
    random = DIGITS.charAt(rest % 32) + random
  }
  return encodeTime(clampTime(time, 0)) + random
}

function clampTime(time: number, first: number): number {
  return Number.isNaN(time) ? first : Math.trunc(Math.min(Math.max(time, first), LAST_TIME))
}

/** For 64 ULIDs: a call of Web Crypto costs as much as the rest of an append, however few bytes it gives. */
const RANDOM_POOL = 64 * RANDOM_DIGITS

/** Fractions from 0 to below 1. The factory asks for a digit at a time, and only once per millisecond. */
function createRandom(): () => number {
  const bytes = new Uint8Array(RANDOM_POOL)
  let used = bytes.length
  return () => {
    if (used === bytes.length) {
      crypto.getRandomValues(bytes)
      used = 0
    }
    return (bytes[used++] ?? 0) / 256
  }
}
