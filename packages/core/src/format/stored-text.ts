/** Text of stored values, which other programs may have written in any shape. Nothing here throws. */

/** A string itself, "" for a missing value, any other value as JSON. `String` throws for an object with a `toString` of its own. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : toJson(value)
}

export const TOO_DEEP = "(nested too deeply)"

/** The value as JSON, a note for a value that is nested too deeply: `JSON.parse` accepts any depth, `JSON.stringify` does not. */
export function toJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent) ?? ""
  } catch {
    return `"${TOO_DEEP}"`
  }
}
