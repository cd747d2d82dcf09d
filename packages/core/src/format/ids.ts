export { checkSessionId, isSessionId } from "../storage/checks.ts"

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
const TIME_DIGITS = 10
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
  const random = createRandom()
  let time = 0
  let digits: number[] = []
  return () => {
    const now = clampTime(clock(), 1)
    // Of those of one millisecond each is one more than the one before it. Where that was the last, the next millisecond begins.
    if (now > time || !increment(digits)) {
      time = Math.max(now, time + 1)
      digits = [...digitsOf(time, TIME_DIGITS), ...random()]
    }
    return textOf(digits)
  }
}

/**
 * The ULID that depends on a time and an index alone, so that every load of an old log gives its entries the same ids. Order of
 * the ids is the order of time, then index. A time that is none counts as 0.
 */
export function ulidAt(time: number, index: number): string {
  return textOf([...digitsOf(clampTime(time, 0), TIME_DIGITS), ...digitsOf(index, RANDOM_DIGITS)])
}

function digitsOf(value: number, length: number): number[] {
  const digits: number[] = []
  for (let rest = value; digits.length < length; rest = Math.floor(rest / 32)) digits.unshift(rest % 32)
  return digits
}

/** All at once: V8 takes twice as long to write JSON with a text in it that was put together from others. */
function textOf(digits: readonly number[]): string {
  return String.fromCharCode(...digits.map((digit) => DIGITS.charCodeAt(digit)))
}

/** Adds one to the random digits. False: there was no greater number, and they are all 0. */
function increment(digits: number[]): boolean {
  for (let at = digits.length - 1; at >= TIME_DIGITS; at--) {
    const digit = ((digits[at] as number) + 1) % 32
    digits[at] = digit
    if (digit > 0) return true
  }
  return false
}

function clampTime(time: number, first: number): number {
  return Number.isNaN(time) ? first : Math.trunc(Math.min(Math.max(time, first), LAST_TIME))
}

/** For 64 ULIDs: a call of Web Crypto costs as much as the rest of an append, however few bytes it gives. */
const RANDOM_POOL = 64 * RANDOM_DIGITS

/** Random digits for an id. */
function createRandom(): () => number[] {
  const bytes = new Uint8Array(RANDOM_POOL)
  let used = bytes.length
  return () => {
    if (used === bytes.length) {
      crypto.getRandomValues(bytes)
      used = 0
    }
    used += RANDOM_DIGITS
    return Array.from(bytes.subarray(used - RANDOM_DIGITS, used), (byte) => byte % 32)
  }
}
