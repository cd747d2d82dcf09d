/** What a request makes of a chat to which another request has added messages meanwhile. Pure. */
import { isEqual } from "./json.ts"
import type { ChatMessage } from "./types.ts"

/**
 * The messages of the chat with the added one, and those up to it. One with its id is replaced by it. What follows a changed question is
 * left out; what follows an answer stays, since a page completes answers with the results of its tools.
 */
export function withMessage(
  stored: readonly ChatMessage[],
  message: ChatMessage,
): { readonly saved: readonly ChatMessage[]; readonly request: readonly ChatMessage[] } {
  const place = stored.findLastIndex(({ id }) => id === message.id)
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
  const place = stored.findLastIndex(({ id }) => id === question?.id)
  if (question === undefined || !isAmong(asked, stored.slice(0, place + 1))) return run
  const behind = stored.slice(place + 1)
  const isOwn = behind[0]?.id === last?.id
  const others = isOwn ? behind.slice(1) : behind
  // Those before the question may have changed since they were loaded, such as an answer that was not complete.
  const before = [...stored.slice(0, place), question]
  return [...before, ...answer, ...(others[0]?.role === "assistant" ? [] : others)]
}

/** Whether the messages of the run are among the stored ones, in this order. */
function isAmong(run: readonly ChatMessage[], stored: readonly ChatMessage[]): boolean {
  let found = 0
  for (const { id } of stored) if (run[found]?.id === id) found++
  return found === run.length
}
