/** Changes to a stored header's line that leave all else of it as it is. */
import { withFields, withValueAt } from "../format/json-edit.ts"
import { parseLine } from "../format/line.ts"
import type { LogRecord } from "../format/line.ts"
import { FORMAT, VERSION } from "../format/records.ts"
import { isObject } from "../format/shape.ts"

/** The header of the same log under another id. */
export function withId(line: string, id: string): string {
  const record = parseLine(line).record as LogRecord
  return record["id"] === id ? line : withFields(line, { id })
}

/** The header that says how many lines there must be; of more than one number the larger. `id` is what the log was called. */
export function withOriginLines(line: string, lines: number, id: string): string {
  const { origin } = parseLine(line).record as LogRecord
  if (!isObject(origin)) return withFields(line, { origin: { format: FORMAT, version: VERSION, id, lines } })
  const before = typeof origin["lines"] === "number" ? origin["lines"] : 0
  return withValueAt(line, ["origin", "lines"], Math.max(before, lines))
}
