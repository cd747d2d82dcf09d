/**
 * Lines of Claude Code that are held back until what they make is complete: a message of the API is several lines, with results of its calls
 * and other lines between them, and a compaction is a boundary and a summary.
 */
import type { JsonLine, SourceLine } from "../base/json-lines.ts"
import { type Fields, fieldsOf, idTextOf } from "../base/values.ts"
import { isToolResult } from "./blocks.ts"
import { isAssistant, isBoundary, isUser, messageIdOf, uuidOf } from "./lines.ts"

export interface Held {
  readonly lines: JsonLine[]
  readonly messageId: string | undefined
  readonly isBoundary: boolean
  readonly uuids: Set<string>
  /** The names of the tools that the message calls, by the ids of the calls. */
  readonly calls: Map<string, string>
  readonly results: JsonLine[]
  /** What calls gave the model besides their results, as the text of a skill: it is sent behind all results. */
  readonly sides: JsonLine[]
  /** Lines between and after them, which do not end the message. */
  readonly others: SourceLine[]
}

/** More lines between those of one message are not held: they are the output of a program that runs for long. */
export const MAX_OTHERS = 2000

export function heldOf(line: JsonLine, uuid: string | undefined): Held {
  const isSplit = isBoundary(line)
  const messageId = isSplit ? undefined : messageIdOf(line)
  const held: Held = {
    lines: [],
    messageId,
    isBoundary: isSplit,
    uuids: new Set(),
    calls: new Map(),
    results: [],
    sides: [],
    others: [],
  }
  holdLine(held, line, uuid)
  return held
}

/** Adds a line that belongs to the held ones, or that does not end them. False: it ends them. */
export function hold(held: Held, line: JsonLine): boolean {
  const uuid = uuidOf(line)
  if (isAssistant(line)) {
    if (held.isBoundary || held.messageId === undefined || messageIdOf(line) !== held.messageId) return false
    holdLine(held, line, uuid)
    return true
  }
  if (isUser(line)) {
    if (held.isBoundary) return false
    if (isResultOf(held, line)) held.results.push(line)
    else if (isSideOf(held, line)) held.sides.push(line)
    else return false
    if (uuid !== undefined) held.uuids.add(uuid)
    return true
  }
  if (isBoundary(line)) return false
  held.others.push(line)
  if (uuid !== undefined) held.uuids.add(uuid)
  return true
}

function holdLine(held: Held, line: JsonLine, uuid: string | undefined): void {
  held.lines.push(line)
  if (uuid !== undefined) held.uuids.add(uuid)
  const { content } = fieldsOf(line.value["message"])
  if (!Array.isArray(content)) return
  for (const block of content as readonly unknown[]) {
    const { type, id, name } = fieldsOf(block)
    if (type === "tool_use" && typeof id === "string") held.calls.set(id, typeof name === "string" ? name : "")
  }
}

/** Whether a user line has results of the held message: by the id of the call, else by the line that is named. */
function isResultOf({ calls, uuids }: Held, { value }: JsonLine): boolean {
  const { content } = value["message"] as Fields
  const results = Array.isArray(content) ? (content as readonly unknown[]).filter(isToolResult) : []
  if (results.length === 0) return false
  if (results.some((result) => calls.has(result["tool_use_id"] as string))) return true
  const { sourceToolAssistantUUID: assistant, parentUuid } = value
  return uuids.has(idTextOf(assistant ?? parentUuid))
}

/** Whether a user line names a call of the held message, and continues a result: of calls at once, each result is a branch of the file. */
function isSideOf({ calls, results, sides }: Held, { value }: JsonLine): boolean {
  const { sourceToolUseID: call, parentUuid } = value
  if (typeof call !== "string" || typeof parentUuid !== "string" || !calls.has(call)) return false
  const isParent = (line: JsonLine): boolean => uuidOf(line) === parentUuid
  return results.some(isParent) || sides.some(isParent)
}
