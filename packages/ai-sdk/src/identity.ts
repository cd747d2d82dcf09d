/**
 * Which messages are one and the same. An answer without `generateMessageId` has the id `""`, which many messages of a chat can have, and a
 * page may have made up an id of its own for an answer that it completes.
 */
import { isEqual } from "./json.ts"
import { isFinished, isTool, type Part, toolName } from "./parts.ts"
import type { ChatMessage } from "./types.ts"

/** Whether they have one id, and could be versions of one message. */
export function isNamedAlike(a: ChatMessage | undefined, b: ChatMessage): boolean {
  return a !== undefined && a.id === b.id && a.role === b.role
}

/** The place of the stored message that this one is a version of; -1: it is a new one. */
export function placeOf(stored: readonly ChatMessage[], message: ChatMessage): number {
  const named = message.id === "" ? -1 : stored.findLastIndex((one) => isNamedAlike(one, message))
  if (named >= 0) return named
  const completed = stored.findLastIndex((one) => isCompletedBy(one, message))
  if (completed >= 0) return completed
  // A request that is sent again.
  return message.id === "" && isEqual(stored.at(-1), message) ? stored.length - 1 : -1
}

/** Whether the message has all calls of the stored answer, of which one waits for an approval or a result. */
function isCompletedBy(stored: ChatMessage, message: ChatMessage): boolean {
  if (stored.role !== "assistant" || message.role !== "assistant") return false
  const calls = callsOf(stored)
  const given = callsOf(message)
  return calls.some((call) => !isFinished(call)) && calls.every((call) => given.some((one) => isSameCall(call, one)))
}

function callsOf({ parts }: ChatMessage): readonly Part[] {
  return (parts as readonly Part[]).filter(isTool)
}

function isSameCall(a: Part, b: Part): boolean {
  return a["toolCallId"] === b["toolCallId"] && toolName(a) === toolName(b) && isEqual(a["input"], b["input"])
}
