/**
 * Which of several titles, labels or metadata values is in force: that of the entry with the greatest (time, id), wherever its line is.
 * So two logs with the same entries show the same, in whatever order they got them. Pure.
 */
import { ENTRY_TYPES } from "../format/entry-types.ts"
import { timeOf } from "../format/timestamp.ts"

/** The order in which entries win: the time of an entry in ms since the epoch, 0 if its timestamp is unreadable, and its id. JSON. */
export type WriteTime = readonly [time: number, id: string]

/** Whether of entries of this type the one with the greatest write time counts. */
export function isLastWriterWins(type: string): boolean {
  return ENTRY_TYPES.get(type)?.lastWriterWins === true
}

export function writeTimeOf({ timestamp, id }: { readonly timestamp: string; readonly id: string }): WriteTime {
  return [timeOf(timestamp) ?? 0, id]
}

/** Whether an entry with this write time replaces one with the other. Of a repeated id the later line counts. */
export function replaces(writeTime: WriteTime, other: WriteTime | undefined): boolean {
  if (other === undefined) return true
  return writeTime[0] === other[0] ? writeTime[1] >= other[1] : writeTime[0] > other[0]
}

/** The greater of two write times. */
export function laterOf(writeTime: WriteTime, other: WriteTime | undefined): WriteTime {
  return other === undefined || replaces(writeTime, other) ? writeTime : other
}

/** The last millisecond that a timestamp with four digits for its year can name. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The timestamp of a new annotation, raised if necessary, so that it takes effect: after all that its writer knows. */
export function effectiveTime(timestamp: string, id: string, latest: WriteTime | undefined): string {
  if (latest === undefined || replaces(writeTimeOf({ timestamp, id }), latest)) return timestamp
  return new Date(Math.min(latest[0] + 1, LAST_TIME)).toISOString()
}
