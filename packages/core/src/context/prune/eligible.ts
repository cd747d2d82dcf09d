/** Which tool results pruning may touch. Pure and linear. */
import { contentUnits } from "../../format/tokens.ts"
import type { AssistantMessage, Message, ToolResultMessage } from "../../format/messages.ts"
import { callsOf } from "../sendable.ts"
import type { PruneSettings } from "./settings.ts"

/**
 * Indexes, oldest first: results after the first message that a user said and before the newest assistant messages, of tools that
 * are not exempt, of some size.
 */
export function eligibleResults(messages: readonly Message[], exempt: readonly boolean[], s: PruneSettings): number[] {
  const from = messages.findIndex(isSaidByUser)
  const to = placeOfRecent(messages, s.keepAssistantMessages)
  const indexes: number[] = []
  if (from < 0) return indexes
  for (let i = from + 1; i < to; i++) {
    const message = messages[i] as Message
    if (message.role !== "toolResult" || exempt[i] === true) continue
    if (contentUnits(message.content) >= s.minResultChars) indexes.push(i)
  }
  return indexes
}

/** For each message, whether it is the result of a tool that is exempt. A result that does not say its tool has that of its call. */
export function exemptResults(messages: readonly Message[], tools: readonly string[]): readonly boolean[] {
  const names = new Map<string, string>()
  return messages.map((message) => {
    if (message.role === "assistant")
      for (const { id, name } of callsOf(message as AssistantMessage)) names.set(id, name)
    if (message.role !== "toolResult") return false
    const { toolName, toolCallId } = message as ToolResultMessage
    return tools.includes(toolName ?? names.get(toolCallId) ?? "")
  })
}

/** Also what only becomes a user's message on the way to a model: a summary, a custom role. */
function isSaidByUser({ role }: Message): boolean {
  return role !== "assistant" && role !== "toolResult" && role !== "system"
}

/** Where the newest assistant messages begin; 0 where there are fewer. */
function placeOfRecent(messages: readonly Message[], count: number): number {
  let left = count
  let place = messages.length
  while (left > 0 && place > 0) {
    place--
    if (messages[place]?.role === "assistant") left--
  }
  return place
}
