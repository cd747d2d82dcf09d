/** ULIDs: the ids of sessions and entries. `computed-ids.ts` has those of old logs. */
import { decodeTime, encodeTime, incrementBase32 } from "ulid"

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
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
  const random = createRandom()
  let time = 0
  let digits = ""
  const startAt = (at: number): void => {
    time = at
    digits = toDigits(random(), random())
  }
  return () => {
    const now = clampTime(clock(), 1)
    if (now > time) startAt(now)
    else {
      try {
        digits = incrementBase32(digits)
      } catch {
        // It cannot be incremented any further within this millisecond.
        startAt(time + 1)
      }
    }
    return toUlid(time, digits)
  }
}

/** The 16 digits after the time, of two numbers of 40 bits: `encodeTime` takes no more than 48. */
export function toDigits(high: number, low: number): string {
  return encodeTime(high, 8) + encodeTime(low, 8)
}

/**
 * The ULID of a time and of the 16 digits after it, as an upper-case text in one piece. V8 keeps a concatenated text in pieces, and
 * `JSON.stringify` takes a slower path for each object that has one: 1.3 us for an entry. Changing the case returns a text in one piece.
 */
export function toUlid(time: number, digits: string): string {
  return (encodeTime(time) + digits).toUpperCase()
}

/** A time that a ULID can hold; `first` for an earlier one and for NaN. */
export function clampTime(time: number, first: number): number {
  return Number.isNaN(time) ? first : Math.trunc(Math.min(Math.max(time, first), LAST_TIME))
}

/** Bytes for 64 ULIDs. A call of Web Crypto costs as much as the rest of an append, regardless of the number of bytes. */
const RANDOM_POOL = 64 * 10

/** Random numbers of 40 bits, from Web Crypto. */
function createRandom(): () => number {
  const bytes = new Uint8Array(RANDOM_POOL)
  const view = new DataView(bytes.buffer)
  let used = bytes.length
  return () => {
    if (used === bytes.length) {
      crypto.getRandomValues(bytes)
      used = 0
    }
    used += 5
    return view.getUint32(used - 5) * 256 + view.getUint8(used - 1)
  }
}
