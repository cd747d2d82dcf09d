/** ULIDs computed from time and index, for the entries of logs that have no ids or other ones. */
import { encodeTime } from "ulid"
import { clampTime, RANDOM_DIGITS, toFlat } from "./ids.ts"

const TIME_DIGITS = 10
/** Values of half the digits of an index, 5 bits each. */
const HALF = 2 ** (5 * (RANDOM_DIGITS / 2))

/**
 * The ULID of a time and an index, so that each load of an old log gives its entries the same ids. Ids sort by time, then index. NaN
 * counts as 0. The index is a safe integer: `encodeTime` refuses more than 48 bits, so its digits are encoded in two halves.
 */
export function ulidAt(time: number, index: number): string {
  const low = index % HALF
  const digits = encodeTime((index - low) / HALF, RANDOM_DIGITS / 2) + encodeTime(low, RANDOM_DIGITS / 2)
  return toFlat(encodeTime(clampTime(time, 0), TIME_DIGITS) + digits)
}
