/** The lines of a session file of Claude Code, by what an import does with them. */
import type { JsonLine } from "../base/json-lines.ts"
import { type Fields, isObject, stringOf } from "../base/values.ts"

export const FORMAT_NAME = "claude-code"

/** `customType` of a line whose `uuid` an earlier one has. */
export const DUPLICATE: string = `${FORMAT_NAME}/duplicate`

export function uuidOf({ value }: JsonLine): string | undefined {
  return stringOf(value["uuid"])
}

export function isUser({ value }: JsonLine): boolean {
  return value["type"] === "user" && isObject(value["message"])
}

export function isAssistant({ value }: JsonLine): boolean {
  return value["type"] === "assistant" && isObject(value["message"])
}

/** The first of the two lines of a compaction, if a summary follows it. */
export function isBoundary({ value }: JsonLine): boolean {
  return value["subtype"] === "compact_boundary" && value["parentUuid"] === null && typeof value["uuid"] === "string"
}

export function isSummary(line: JsonLine): boolean {
  return isUser(line) && line.value["isCompactSummary"] === true
}

/** Whether the conversation ends in the line, if no such line follows it. A boundary that nothing follows yet ends nothing. */
export function isLeaf(line: JsonLine): boolean {
  const { type, uuid } = line.value
  if (typeof uuid !== "string" || isBoundary(line)) return false
  return type === "user" || type === "assistant" || type === "attachment" || type === "system"
}

/** The id of the API's message; a message is on one line for each of its blocks. */
export function messageIdOf({ value }: JsonLine): string | undefined {
  return stringOf((value["message"] as Fields)["id"])
}

/** The title that a line gives the session. */
export function titleOf({ value }: JsonLine): { readonly title: string; readonly source: "user" | "auto" } | undefined {
  const { type, customTitle, aiTitle, summary } = value
  if (type === "custom-title" && isTitle(customTitle)) return { title: customTitle, source: "user" }
  if (type === "ai-title" && isTitle(aiTitle)) return { title: aiTitle, source: "auto" }
  return type === "summary" && isTitle(summary) ? { title: summary, source: "auto" } : undefined
}

/** The folder that a session was moved to. */
export function relocatedTo({ value }: JsonLine): string | undefined {
  return value["type"] === "relocated" ? stringOf(value["relocatedCwd"]) : undefined
}

function isTitle(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}
