/** ULIDs computed from time and index, for the entries of logs that have no ids or other ones. */
import { clampTime, toDigits, toUlid } from "./ids.ts"

/** Indexes have up to 53 bits, and {@link toDigits} takes 40 at a time. */
const HALF = 2 ** 40

/**
 * The ULID of a time and an index, so that each load of an old log gives its entries the same ids. Ids sort by time, then index. NaN
 * counts as 0. The index is a safe integer.
 */
export function ulidAt(time: number, index: number): string {
  const low = index % HALF
  return toUlid(clampTime(time, 0), toDigits((index - low) / HALF, low))
}
