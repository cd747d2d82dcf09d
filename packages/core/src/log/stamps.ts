/**
 * Which of several titles, labels or metadata values is in force: that of the entry with the greatest (time, id), wherever its line is.
 * So two logs with the same entries show the same, in whatever order they got them. Pure.
 */
import { ENTRY_TYPES } from "../format/entry-types.ts"
import { timeOf } from "../format/timestamp.ts"

/** Of an entry: its time in ms since the epoch, 0 if its timestamp is unreadable, and its id. JSON. */
export type Stamp = readonly [time: number, id: string]

/** Whether of entries of this type the greatest stamp counts. */
export function isStamped(type: string): boolean {
  return ENTRY_TYPES.get(type)?.stamped === true
}

export function stampOf({ timestamp, id }: { readonly timestamp: string; readonly id: string }): Stamp {
  return [timeOf(timestamp) ?? 0, id]
}

/** Whether an entry with this stamp replaces one with the other. Of a repeated id the later line counts. */
export function replaces(stamp: Stamp, other: Stamp | undefined): boolean {
  if (other === undefined) return true
  return stamp[0] === other[0] ? stamp[1] >= other[1] : stamp[0] > other[0]
}

/** The greater of two stamps. */
export function laterOf(stamp: Stamp, other: Stamp | undefined): Stamp {
  return other === undefined || replaces(stamp, other) ? stamp : other
}

/** The last millisecond that a timestamp with four digits for its year can name. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The timestamp of a new annotation, raised if necessary, so that it takes effect: after all that its writer knows. */
export function effectiveTime(timestamp: string, id: string, latest: Stamp | undefined): string {
  if (latest === undefined || replaces(stampOf({ timestamp, id }), latest)) return timestamp
  return new Date(Math.min(latest[0] + 1, LAST_TIME)).toISOString()
}
