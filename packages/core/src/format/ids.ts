/** ULIDs: the ids of sessions and entries. `computed-ids.ts` has those of old logs. */
import { encodeTime } from "ulid"

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
const TIME_DIGITS = 10
export const RANDOM_DIGITS = 16
/** The largest time that the 48 bits of a ULID hold. */
const LAST_TIME = 2 ** 48 - 1

/** Whether a text is a ULID as this project makes them: 26 characters of Crockford's base 32, upper case. */
export function isUlid(text: unknown): text is string {
  return typeof text === "string" && ULID.test(text)
}

/** Milliseconds since the epoch: the time in a ULID ({@link isUlid}). A first digit above 7 counts as the last time that a ULID can have. */
export function ulidTime(ulid: string): number {
  let time = 0
  for (const digit of ulid.slice(0, TIME_DIGITS)) time = 32 * time + DIGITS.indexOf(digit)
  return Math.min(time, LAST_TIME)
}

/**
 * A source of ULIDs. Each is greater than the one before it, also within one millisecond and if the clock goes backwards. Times before
 * 1970 count as its first millisecond.
 */
export function createIds(clock: () => number = Date.now): () => string {
  const randomDigits = createRandomDigits()
  let time = 0
  let digits = ""
  return () => {
    const now = clampTime(clock(), 1)
    const following = now > time ? undefined : incremented(digits)
    if (following === undefined) time = Math.max(now, time + 1)
    digits = following ?? randomDigits()
    return toFlat(encodeTime(time) + digits)
  }
}

/** Undefined if the digits cannot be incremented any further. */
function incremented(digits: string): string | undefined {
  let at = digits.length - 1
  while (digits[at] === "Z") at--
  if (at < 0) return undefined
  const next = DIGITS.indexOf(digits[at] as string) + 1
  return `${digits.slice(0, at)}${DIGITS[next] as string}${"0".repeat(RANDOM_DIGITS - 1 - at)}`
}

/**
 * The same upper-case text. V8 keeps a concatenated text in pieces, and `JSON.stringify` takes a slower path for each object that has
 * one: 1.3 us for an entry. Changing the case returns a text in one piece.
 */
export function toFlat(id: string): string {
  return id.toUpperCase()
}

/** A time that a ULID can hold; `first` for an earlier one and for NaN. */
export function clampTime(time: number, first: number): number {
  return Number.isNaN(time) ? first : Math.trunc(Math.min(Math.max(time, first), LAST_TIME))
}

/** Bytes for 64 ULIDs. A call of Web Crypto costs as much as the rest of an append, regardless of the number of bytes. */
const RANDOM_POOL = 64 * RANDOM_DIGITS
const DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

/** The random part of a ULID, from Web Crypto. */
function createRandomDigits(): () => string {
  const bytes = new Uint8Array(RANDOM_POOL)
  let used = bytes.length
  return () => {
    if (used === bytes.length) {
      crypto.getRandomValues(bytes)
      used = 0
    }
    let digits = ""
    for (const end = used + RANDOM_DIGITS; used < end; used++) digits += DIGITS[(bytes[used] as number) & 31]
    return digits
  }
}
