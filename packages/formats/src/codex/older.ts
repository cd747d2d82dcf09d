/**
 * Rollouts of 2025, before lines had a `payload`: a header of `id`, `timestamp` and `instructions`, then items as they are, with lines of
 * `record_type` between them; and older ones, one JSON document of `{session, items}`. They are read as the lines of today.
 */
import type { JsonLine, SourceLine } from "../base/json-lines.ts"
import { type Fields, fieldsOf, isObject, stringOf } from "../base/values.ts"

const ITEM_TYPES: ReadonlySet<unknown> = new Set([
  "message",
  "reasoning",
  "function_call",
  "function_call_output",
  "local_shell_call",
  "custom_tool_call",
  "custom_tool_call_output",
])

/** The line as `{timestamp, type, payload}`; the same object if it is one. */
export function lineOfToday(value: Fields): Fields {
  if (Object.hasOwn(value, "payload")) return value
  if (isOlderHeader(value)) return { timestamp: value["timestamp"], type: "session_meta", payload: value }
  return ITEM_TYPES.has(value["type"]) ? { type: "response_item", payload: value } : value
}

/** A header without an envelope. */
export function isOlderHeader({ id, timestamp, type, instructions, git }: Fields): boolean {
  const isNamed = typeof id === "string" && typeof timestamp === "string" && type === undefined
  return isNamed && (instructions !== undefined || isObject(git))
}

/** Whether a document is one of the oldest. */
export function isOldestDocument(names: ReadonlySet<string>): boolean {
  return ["session", "items", "role", "content"].every((name) => names.has(name))
}

/** The lines of a document that is one line. */
export function linesOfDocument(line: SourceLine): readonly JsonLine[] | undefined {
  const { session, items } = fieldsOf(line.value)
  if (!isObject(session) || !Array.isArray(items)) return undefined
  return [session, ...(items as readonly unknown[]).filter(isObject)].map((value, i) => ({ at: i + 1, value }))
}

/** The text of a document in several lines as one; other files as they are. */
export async function* joinedDocument(main: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let start: string | undefined = ""
  for await (const piece of main) {
    if (start === undefined) {
      yield piece
      continue
    }
    start += piece
    if (!start.includes("\n") || isOpenBrace(start)) continue
    yield start
    start = undefined
  }
  if (start !== undefined && start !== "") yield isOpenBrace(start) ? start.replaceAll(/\r?\n/g, " ") : start
}

function isOpenBrace(text: string): boolean {
  return /^\s*\{\s*(?:\r?\n|$)/.test(text)
}

/** The folder in what Codex tells the model of its surroundings: the headers of older rollouts do not have it. */
export function folderOfItem({ type, role, content }: Fields): string | undefined {
  if (type !== "message" || role !== "user") return undefined
  const parts = Array.isArray(content) ? (content as readonly unknown[]).map(fieldsOf) : []
  const text = parts.map((part) => stringOf(part["text"]) ?? "").join("\n")
  if (!text.trimStart().startsWith("<environment_context>")) return undefined
  const [, tag, line] = /<cwd>([^<]+)<\/cwd>|^Current working directory: (.+)$/m.exec(text) ?? []
  return tag ?? line?.trim()
}
