/**
 * Lines of an imported rollout as Codex takes them when it resumes a session. It refuses a file whose last record has no `ordinal` although
 * others have one, and passes over records without a time or with a content of another shape: what it said of them would be lost.
 */
import type { Losses } from "../base/losses.ts"
import { type Fields, fieldsOf, isObject, jsonOf, stringOf, timestampOf } from "../base/values.ts"
import type { PlacedRecord } from "../base/written-lines.ts"
import { lineOfToday } from "./older.ts"

interface Line extends PlacedRecord {
  readonly isNew?: true
}

export function acceptableLines(lines: readonly Line[], losses: Losses): readonly Line[] {
  const sorted = lines.toSorted((a, b) => a.at - b.at)
  const first = sorted.findIndex(({ record }) => isObject(record) && lineOfToday(record)["type"] === "session_meta")
  const hasOrdinals = sorted.some(({ record }) => isObject(record) && typeof record["ordinal"] === "number")
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
    const line = acceptable(record, timestamp)
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

/** The same record if it is acceptable. */
function acceptable(record: Fields, timestamp: string): Fields {
  const today = lineOfToday(record)
  const payload = today["type"] === "response_item" ? acceptableItem(fieldsOf(today["payload"])) : today["payload"]
  if (today === record && payload === record["payload"] && record["timestamp"] === timestamp) return record
  return { ...today, timestamp, payload }
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
