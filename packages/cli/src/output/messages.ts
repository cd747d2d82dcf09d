/** Messages and entries as text for people to read. */
import type { Entry, EntryType, Message, SessionInfo } from "@sessions/core"
import { isObject, toJsonText } from "@sessions/core/format"
import { cut, formatCount } from "./format.ts"
import { type Line, type Span, type Style, styled } from "./lines.ts"
import { sanitizeLine, sanitizeLines } from "./sanitize.ts"

const ROLE_STYLES: Readonly<Record<string, Style>> = {
  user: "cyan",
  assistant: "green",
  toolResult: "dim",
  system: "yellow",
}

export function roleSpan(role: string): Span {
  return styled(ROLE_STYLES[role] ?? "blue", role)
}

/** The whole message as text; other blocks are shown by their type. A log may hold messages of any shape, so every field is checked. */
export function messageText(message: Message): string {
  const { content, command, code, output } = message as Readonly<Record<string, unknown>>
  const texts = Array.isArray(content) ? content.map(blockText) : [fieldText(content)].filter((text) => text !== "")
  return [...texts, ...[command, code, output].filter((text) => typeof text === "string")].join("\n")
}

/** The title of a session, or how it began; undefined for one that has neither. */
export function titleText({ title, firstPrompt }: Pick<SessionInfo, "title" | "firstPrompt">): string | undefined {
  const shown = title ?? firstPrompt
  return shown === undefined ? undefined : preview(shown, TITLE_UNITS)
}

export const TITLE_UNITS = 80

/** The start of a text, on one line. */
export function preview(text: string, units: number): string {
  return cut(sanitizeLine(text.slice(0, units * 4).trim()).replace(/ {2,}/g, " "), units)
}

/** The first `lines` lines of a message, indented. */
export function body(message: Message, lines: number): Line[] {
  const all = sanitizeLines(messageText(message))
  const shown = all
    .slice(0, lines)
    .map((line) => `  ${lines === Number.POSITIVE_INFINITY ? line : cut(line, MAX_LINE_UNITS)}`)
  const omitted = all.length - shown.length
  return omitted > 0 ? [...shown, styled("dim", `  … ${formatCount(omitted, "more line")}`)] : shown
}

/** The kind of an entry, and its main fields as text. */
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
  const fields = (SUMMARY_FIELDS as Readonly<Record<string, readonly string[]>>)[entry.type] ?? ["customType"]
  return {
    kind: entry.type,
    text: fields
      .map((key) => fieldText(field[key]))
      .filter((text) => text !== "")
      .join(" "),
  }
}

/** Longer lines are cut; --full shows them whole. */
const MAX_LINE_UNITS = 400

/** The main fields of each entry type. */
const SUMMARY_FIELDS: Readonly<Record<Exclude<EntryType, "message">, readonly string[]>> = {
  custom: ["customType"],
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
  tool_policy: ["never", "safe"],
  tool_start: ["toolName", "callId", "attempt", "key"],
  fence: ["fence"],
  context_refusal: ["kind", "provider", "model"],
  context_step: ["step"],
  leaf: [],
  reset_boundary: [],
}

function blockText(block: unknown): string {
  if (!isObject(block)) return fieldText(block)
  switch (block["type"]) {
    case "text":
      return String(block["text"])
    case "thinking":
      return `(thinking) ${String(block["thinking"])}`
    case "toolCall":
      return `→ ${String(block["name"])} ${block["arguments"] === undefined ? "" : toJsonText(block["arguments"])}`
    case "image":
      return `[image ${String(block["mimeType"])}]`
    case "file":
      return `[file ${String(block["path"])}]`
    default:
      return `[${String(block["type"])}]`
  }
}

function fieldText(value: unknown): string {
  if (typeof value === "string") return value
  if (Array.isArray(value) && value.every(isObject)) return value.map(blockText).join("\n")
  return value === undefined || value === null ? "" : toJsonText(value)
}
