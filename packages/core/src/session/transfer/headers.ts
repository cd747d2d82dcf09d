/** Changes to a stored header's line that leave all else of it as it is. */
import { parseLine } from "../../format/line.ts"
import type { LogRecord } from "../../format/line.ts"
import { FORMAT, VERSION } from "../../format/records.ts"
import { isObject } from "../../format/shape.ts"

/** The header of the same log under another id, changed nowhere else, down to its white space where that can be done. */
export function withId(line: string, id: string): string {
  const record = parseLine(line).record as LogRecord
  if (record["id"] === id) return line
  if (typeof record["id"] !== "string") return JSON.stringify({ ...record, id })
  const field = new RegExp(`("id"\\s*:\\s*)${escaped(JSON.stringify(record["id"]))}`, "g")
  const changed = [...line.matchAll(field)].map(
    ({ 0: text, 1: name = "", index }) =>
      line.slice(0, index) + name + JSON.stringify(id) + line.slice(index + text.length),
  )
  // A place that looks like it may be another object's.
  return thatSays(changed, { ...record, id })
}

/** The header that says how many lines there must be; of more than one number the larger. `id` is what the log was called. */
export function withOriginLines(line: string, lines: number, id: string): string {
  const record = parseLine(line).record as LogRecord
  const origin = isObject(record["origin"]) ? record["origin"] : { format: FORMAT, version: VERSION, id }
  const before = typeof origin["lines"] === "number" ? origin["lines"] : 0
  const said = { ...origin, lines: Math.max(before, lines) }
  const text = JSON.stringify(said)
  const changed = isObject(record["origin"])
    ? line.replace(JSON.stringify(origin), () => text)
    : line.replace(/\s*\}\s*$/, (end) => `,"origin":${text}${end}`)
  return thatSays([changed], { ...record, origin: said })
}

/** The text that reads as this record; written anew only where there is none, since that changes numbers that no double holds. */
function thatSays(texts: readonly string[], record: LogRecord): string {
  const wanted = JSON.stringify(record)
  return texts.find((text) => JSON.stringify(parseLine(text).record) === wanted) ?? wanted
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&")
}
