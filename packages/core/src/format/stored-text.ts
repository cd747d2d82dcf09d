/** Text of stored values, which other programs may have written in any shape. Nothing here throws. */

/** A string itself, "" for a missing value, any other value as JSON. `String` throws for an object with a `toString` of its own. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : toJson(value)
}

/** The value as JSON, a note for a value that is nested too deeply: `JSON.parse` accepts any depth, `JSON.stringify` does not. */
export function toJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent) ?? ""
  } catch {
    return '"(nested too deeply)"'
  }
}

/** A value for a message; cut, because it may be as long as a line. */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : toJson(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
