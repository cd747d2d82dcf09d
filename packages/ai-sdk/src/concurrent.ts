/** Merges a request into a chat to which another request has added messages meanwhile. Pure. */
import { isNamedAlike, placeOf } from "./identity.ts"
import { isEqual } from "./json.ts"
import type { ChatMessage } from "./types.ts"

/**
 * The messages of the chat with the added one, and those up to it. An earlier version of it is replaced. What follows a changed question is
 * left out; what follows an answer stays, since a page completes answers with the results of its tools.
 */
export function withMessage(
  stored: readonly ChatMessage[],
  message: ChatMessage,
): { readonly saved: readonly ChatMessage[]; readonly request: readonly ChatMessage[] } {
  const place = placeOf(stored, message)
  if (place < 0) return { saved: [...stored, message], request: [...stored, message] }
  const request = [...stored.slice(0, place), message]
  const isCut = message.role !== "assistant" && !isEqual(stored[place], message)
  return { saved: isCut ? request : [...request, ...stored.slice(place + 1)], request }
}

/**
 * The messages of a run in the chat as it is now. A question that another request has added behind that of the run stays behind the answer
 * of the run. Another answer in its place was there before, or is that of the same question asked at once: it is replaced, with what
 * follows. If the question of the run is no longer in the chat, the messages of the run are those of the chat.
 */
export function withRun(stored: readonly ChatMessage[], run: readonly ChatMessage[]): readonly ChatMessage[] {
  const last = run.at(-1)
  const answer = last?.role === "assistant" ? [last] : []
  const asked = run.slice(0, run.length - answer.length)
  const question = asked.at(-1)
  const end = endOf(asked, stored)
  if (question === undefined || end === undefined) return run
  const behind = stored.slice(end)
  const isOwn = last !== undefined && isNamedAlike(behind[0], last)
  const others = isOwn ? behind.slice(1) : behind
  // Those before the question may have changed since they were loaded, such as an answer that was not complete.
  const before = [...stored.slice(0, end - 1), question]
  return [...before, ...answer, ...(others[0]?.role === "assistant" ? [] : others)]
}

/** The place behind the last of these messages; undefined if they are not all among the stored ones, in this order. */
function endOf(messages: readonly ChatMessage[], stored: readonly ChatMessage[]): number | undefined {
  let end = 0
  for (const message of messages) {
    while (end < stored.length && !isNamedAlike(stored[end], message)) end++
    if (end++ === stored.length) return undefined
  }
  return end
}
