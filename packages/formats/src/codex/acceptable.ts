/**
 * Lines of an imported rollout as Codex takes them when it resumes a session. It refuses a file whose `session_meta` lacks a field, as those of
 * 2025 do, or whose last record has no `ordinal` although others have one or the history is paginated. It passes over records without a time or
 * with a content of another shape: what it said of them would be lost.
 */
import type { Losses } from "../base/losses.ts"
import { type Fields, fieldsOf, isObject, jsonOf, stringOf, timestampOf } from "../base/values.ts"
import type { PlacedRecord } from "../base/written-lines.ts"
import { lineOfToday } from "./older.ts"

/** What a `session_meta` says of the program. Codex 0.171 reads none without these, and without `id`, `timestamp` and `cwd`. */
export const PROGRAM = { originator: "sessions", cli_version: "0.0.0" }

interface Line extends PlacedRecord {
  readonly isNew?: true
}

/** `cwd` is the folder of a file that names none. */
export function acceptableLines(lines: readonly Line[], cwd: string, losses: Losses): readonly Line[] {
  const sorted = lines.toSorted((a, b) => a.at - b.at)
  const first = sorted.findIndex(({ record }) => isObject(record) && lineOfToday(record)["type"] === "session_meta")
  const header = fieldsOf(fieldsOf(sorted[first]?.record)["payload"])
  const hasOrdinals =
    header["history_mode"] === "paginated" ||
    sorted.some(({ record }) => isObject(record) && typeof record["ordinal"] === "number")
  let last = -1
  let timestamp = timeOf(sorted[first]?.record) ?? new Date(0).toISOString()
  const moved = first > 0 ? [sorted[first] as Line, ...sorted.filter((_, i) => i !== first)] : sorted
  if (first > 0) changed(losses, first)
  return moved.flatMap(({ record, isNew }, at): Line[] => {
    if (!isObject(record)) {
      losses.add("unreadable", 1, (n) => `${n} lines that cannot be read are not in the file: Codex refuses them.`)
      return []
    }
    const ordinal = record["ordinal"]
    const isInOrder = typeof ordinal === "number" && ordinal > last
    last = isInOrder ? ordinal : last + 1
    timestamp = timeOf(record) ?? timestamp
    const line = acceptable(record, { timestamp, cwd })
    const numbered = hasOrdinals && !isInOrder ? { ...line, ordinal: last } : line
    if (numbered !== record && isNew !== true) changed(losses, 1)
    return [{ at, record: numbered, ...(isNew === true ? { isNew } : {}) }]
  })
}

function changed(losses: Losses, count: number): void {
  losses.add("rebuilt", count, (n) => `${n} lines are not as they were: Codex does not take them so.`)
}

function timeOf(record: unknown): string | undefined {
  return isObject(record) ? timestampOf(record["timestamp"]) : undefined
}

interface Known {
  readonly timestamp: string
  readonly cwd: string
}

/** The same record if it is acceptable. */
function acceptable(record: Fields, known: Known): Fields {
  const today = lineOfToday(record)
  const payload = acceptablePayload(today, known)
  const { timestamp } = known
  if (today === record && payload === record["payload"] && record["timestamp"] === timestamp) return record
  return { ...today, timestamp, payload }
}

function acceptablePayload({ type, payload }: Fields, known: Known): unknown {
  if (type === "response_item") return acceptableItem(fieldsOf(payload))
  return type === "session_meta" ? acceptableMeta(fieldsOf(payload), known) : payload
}

function acceptableMeta(meta: Fields, known: Known): Fields {
  const missing = Object.entries({ ...known, ...PROGRAM }).filter(([name]) => typeof meta[name] !== "string")
  return missing.length === 0 ? meta : { ...meta, ...Object.fromEntries(missing) }
}

function acceptableItem(item: Fields): Fields {
  switch (item["type"]) {
    case "message": {
      const { content, role } = item
      if (Array.isArray(content)) return item
      const text = stringOf(content)
      const type = role === "assistant" ? "output_text" : "input_text"
      return { ...item, content: text === undefined ? [] : [{ type, text }] }
    }
    case "function_call":
      return typeof item["arguments"] === "string" ? item : { ...item, arguments: jsonOf(item["arguments"] ?? {}) }
    case "function_call_output":
    case "custom_tool_call_output": {
      const { output } = item
      if (typeof output === "string" || Array.isArray(output)) return item
      return { ...item, output: stringOf(fieldsOf(output)["content"]) ?? (output == null ? "" : jsonOf(output)) }
    }
    default:
      return item
  }
}
