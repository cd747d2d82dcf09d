/** Changes to a stored header's line that leave all else of it as it is. */
import { parseLine } from "../../format/line.ts"
import type { LogRecord } from "../../format/line.ts"
import { FORMAT, VERSION } from "../../format/records.ts"
import { isObject } from "../../format/shape.ts"

/** The header of the same log under another id, changed nowhere else, down to its white space where that can be done. */
export function withId(line: string, id: string): string {
  const record = parseLine(line).record as LogRecord
  if (record["id"] === id) return line
  const wanted = JSON.stringify({ ...record, id })
  if (typeof record["id"] !== "string") return wanted
  const field = new RegExp(`("id"\\s*:\\s*)${escaped(JSON.stringify(record["id"]))}`)
  const changed = line.replace(field, (_, name: string) => name + JSON.stringify(id))
  // The first place that looks like it may be another object's.
  return JSON.stringify(parseLine(changed).record) === wanted ? changed : wanted
}

/** The header that says how many lines there must be; of more than one number the larger. `id` is what the log was called. */
export function withOriginLines(line: string, lines: number, id: string): string {
  const record = parseLine(line).record as LogRecord
  const origin = isObject(record["origin"]) ? record["origin"] : { format: FORMAT, version: VERSION, id }
  const before = typeof origin["lines"] === "number" ? origin["lines"] : 0
  return JSON.stringify({ ...record, origin: { ...origin, lines: Math.max(before, lines) } })
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
}
