/** The text of entries, for previews and for finding words. */
import type { Entry, EntryType } from "@sessions/core"
import { fieldsOf, isObject, stringOf } from "./fields.ts"

/** The text of an entry that a person reads: of a message all of it, of other types their main fields. */
export function textOf(entry: Entry): string {
  const fields: Readonly<Record<string, unknown>> = entry
  if (entry.type === "message") return messageText(fields["message"])
  if (entry.type === "context_edit") return contentText(fieldsOf(fields["replacement"])["content"])
  const names = (MAIN_FIELDS as Readonly<Record<string, readonly string[]>>)[entry.type] ?? [
    "customType",
    "content",
    "text",
    "summary",
  ]
  return names
    .map((name) => valueText(fields[name]))
    .filter((text) => text !== "")
    .join(" ")
}

export function messageText(message: unknown): string {
  const { content, command, code, output, summaryText } = fieldsOf(message)
  return [contentText(content), ...[command, code, output, summaryText].map((value) => stringOf(value) ?? "")]
    .filter((text) => text !== "")
    .join("\n")
}

export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return valueText(content)
  return content.map(blockText).join("\n")
}

/** The start of a text, on one line. */
export function preview(text: string, units: number): string {
  const line = text
    .slice(0, units * 4)
    // A single blank stays as it is: most of a text are words with one between them.
    .replace(/\s{2,}|[^\S ]/g, " ")
    .trim()
  if (line.length <= units) return line
  // A pair of surrogates is one character.
  const end = /[\ud800-\udbff]/.test(line.charAt(units - 2)) ? units - 2 : units - 1
  return `${line.slice(0, end)}…`
}

function blockText(block: unknown): string {
  if (!isObject(block)) return valueText(block)
  switch (block["type"]) {
    case "text":
      return valueText(block["text"])
    case "thinking":
      return valueText(block["thinking"])
    case "toolCall":
      return `${valueText(block["name"])} ${valueText(block["arguments"])}`
    case "image":
      return `[image ${valueText(block["mimeType"])}]`
    case "file":
      return `[file ${valueText(block["path"])}]`
    default:
      return valueText(block)
  }
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value
  if (value === undefined || value === null) return ""
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    // Another program has written it, nested deeper than the stack.
    return "(nested too deeply)"
  }
}

/** The fields that say the most about an entry, for the types of the format. */
const MAIN_FIELDS: Readonly<Record<Exclude<EntryType, "message" | "context_edit">, readonly string[]>> = {
  custom_message: ["customType", "content"],
  compaction: ["summary"],
  branch_summary: ["summary"],
  tombstone: ["targetId"],
  model_change: ["provider", "model", "role"],
  thinking_level_change: ["thinkingLevel"],
  mode_change: ["mode"],
  ttsr_injection: ["injectedRules"],
  session_init: ["task", "systemPrompt"],
  label: ["label"],
  title_change: ["title"],
  metadata: ["key", "value"],
  usage: ["kind"],
  file_snapshot: ["files"],
  tool_policy: ["never", "safe"],
  tool_start: ["toolName", "callId", "attempt", "key"],
  fence: ["fence"],
  context_refusal: ["kind", "provider", "model"],
  context_step: ["step"],
  custom: ["customType", "data"],
  leaf: [],
  reset_boundary: [],
}
