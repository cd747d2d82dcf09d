/** The lines of a written file of JSON lines. */
import { type Fields, isObject, jsonOf } from "./values.ts"

/** A line of a written file. A text is a line that could not be read, and stays as it was. */
export function lineOf(record: unknown): string {
  if (typeof record === "string") return `${record}\n`
  // Readers such as `readline` of Node end a line there, too.
  return `${jsonOf(record).replaceAll(/[\u2028\u2029]/g, (end) => (end === "\u2028" ? "\\u2028" : "\\u2029"))}\n`
}

export interface PlacedRecord {
  /** The number of its line in the file that the session came from. */
  readonly at: number
  readonly record: unknown
}

/** The lines in their order. `changed`, unless it is undefined, gets the first record that `isHeader`, and gives what is written instead. */
export function* orderedLines(
  lines: readonly PlacedRecord[],
  isHeader: (record: Fields) => boolean,
  changed: ((header: Fields) => Fields) | undefined,
): Generator<string, void, undefined> {
  let change = changed
  for (const { record } of lines.toSorted((a, b) => a.at - b.at)) {
    if (change !== undefined && isObject(record) && isHeader(record)) {
      yield lineOf(change(record))
      change = undefined
    } else yield lineOf(record)
  }
}
