/** The time of a stored timestamp, equal on every engine and in every time zone. */

/** ISO 8601. The group is the zone; undefined if there is none. */
export const DATE_TIME: RegExp = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/

/**
 * Milliseconds since the epoch; undefined if it is not a timestamp. Accepts only ISO 8601 and milliseconds, and takes a time without
 * a zone as UTC: ids and the order of annotations follow from it.
 */
export function timeOf(timestamp: unknown): number | undefined {
  if (typeof timestamp === "number") return Number.isFinite(timestamp) ? timestamp : undefined
  const match = typeof timestamp === "string" ? DATE_TIME.exec(timestamp) : null
  if (match === null) return undefined
  const time = Date.parse(match[1] === undefined ? `${match[0]}Z` : match[0])
  return Number.isNaN(time) ? undefined : time
}
