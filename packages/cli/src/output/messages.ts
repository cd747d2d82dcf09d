/** Messages and entries as people read them. */
import type { Entry, Message } from "@sessions/core"
import { cut } from "./format.ts"
import type { Line, Span, Style } from "./lines.ts"
import { styled } from "./lines.ts"
import { cleanLine, cleanLines } from "./sanitize.ts"

const ROLE_STYLES: Readonly<Record<string, Style>> = {
  user: "cyan",
  assistant: "green",
  toolResult: "dim",
  system: "yellow",
}

export function roleSpan(role: string): Span {
  return styled(ROLE_STYLES[role] ?? "blue", role)
}

/** The whole message as text; what is not text is named. A log keeps messages of any shape, so this takes any. */
export function messageText(message: Message): string {
  const { content, command, code, output } = message as Readonly<Record<string, unknown>>
  const said = Array.isArray(content) ? content.map(blockText) : [fieldText(content)].filter((text) => text !== "")
  return [...said, ...[command, code, output].filter((text) => typeof text === "string")].join("\n")
}

/** The first of it, on one line. */
export function preview(text: string, units: number): string {
  return cut(cleanLine(text.slice(0, units * 4).trim()).replace(/ {2,}/g, " "), units)
}

/** The message indented under a heading: all lines, or as many as give an idea of it. */
export function body(message: Message, lines: number): Line[] {
  const all = cleanLines(messageText(message))
  const shown = all
    .slice(0, lines)
    .map((line) => `  ${lines === Number.POSITIVE_INFINITY ? line : cut(line, MAX_UNITS)}`)
  const left = all.length - shown.length
  return left > 0 ? [...shown, styled("dim", `  … ${left} more ${left === 1 ? "line" : "lines"}`)] : shown
}

/** One line on what an entry is: its kind and the point of it. */
export function entrySummary(entry: Entry): { readonly kind: string; readonly text: string } {
  const field = entry as Readonly<Record<string, unknown>>
  if (entry.type === "message") {
    const message = isObject(field["message"]) ? (field["message"] as unknown as Message) : undefined
    const role: unknown = message?.role
    return {
      kind: typeof role === "string" ? role : entry.type,
      text: message === undefined ? "" : messageText(message),
    }
  }
  const shown = SHOWN_FIELDS[entry.type] ?? ["customType"]
  return {
    kind: entry.type,
    text: shown
      .map((key) => fieldText(field[key]))
      .filter((text) => text !== "")
      .join(" "),
  }
}

/** A line longer than this is shown in part; --full shows it whole. */
const MAX_UNITS = 400

/** What an entry of each type is about. */
const SHOWN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  custom_message: ["customType", "content"],
  compaction: ["summary"],
  branch_summary: ["summary"],
  context_edit: ["targetId"],
  tombstone: ["targetId"],
  model_change: ["provider", "model", "role"],
  thinking_level_change: ["thinkingLevel"],
  mode_change: ["mode"],
  ttsr_injection: ["injectedRules"],
  session_init: ["task"],
  label: ["label", "targetId"],
  title_change: ["title"],
  metadata: ["key", "value"],
  usage: ["kind"],
  file_snapshot: ["messageId"],
}

function blockText(block: unknown): string {
  if (!isObject(block)) return fieldText(block)
  switch (block["type"]) {
    case "text":
      return String(block["text"])
    case "thinking":
      return `(thinking) ${String(block["thinking"])}`
    case "toolCall":
      return `→ ${String(block["name"])} ${JSON.stringify(block["arguments"]) ?? ""}`
    case "image":
      return `[image ${String(block["mimeType"])}]`
    case "file":
      return `[file ${String(block["path"])}]`
    default:
      return `[${String(block["type"])}]`
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return value
  if (Array.isArray(value) && value.every(isObject)) return value.map(blockText).join("\n")
  return value === undefined || value === null ? "" : JSON.stringify(value)
}
