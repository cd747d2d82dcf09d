/** ULIDs: the ids of sessions and entries. `computed-ids.ts` has those of old logs. */
import { decodeTime, monotonicFactory } from "ulid"

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
export const RANDOM_DIGITS = 16
/** The largest time that the 48 bits of a ULID hold. */
const LAST_TIME = 2 ** 48 - 1

/** Whether a text is a ULID as this project makes them: 26 characters of Crockford's base 32, upper case. */
export function isUlid(text: unknown): text is string {
  return typeof text === "string" && ULID.test(text)
}

/** Milliseconds since the epoch: the time in a ULID. A first digit above 7 counts as the last time that a ULID can have. */
export function ulidTime(ulid: string): number {
  return ulid > "8" ? LAST_TIME : decodeTime(ulid)
}

/**
 * A source of ULIDs. Each is greater than the one before it, also within one millisecond and if the clock goes backwards. Times before
 * 1970 count as its first millisecond.
 */
export function createIds(clock: () => number = Date.now): () => string {
  const next = monotonicFactory(createRandom())
  let time = 1
  return () => {
    // The factory takes 0 and NaN for the current time.
    time = Math.max(time, clampTime(clock(), 1))
    try {
      return toFlat(next(time))
    } catch {
      // The random part cannot be incremented any further within this millisecond.
      time += 1
      return toFlat(next(time))
    }
  }
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

/** Random numbers from 0 to below 1, from Web Crypto. */
function createRandom(): () => number {
  const bytes = new Uint8Array(RANDOM_POOL)
  let used = bytes.length
  return () => {
    if (used === bytes.length) {
      crypto.getRandomValues(bytes)
      used = 0
    }
    const byte = bytes[used++] as number
    return byte / 256
  }
}
