/** Selects the tool results that pruning may shorten. Pure and linear. */
import { contentUnits } from "../../format/tokens.ts"
import type { AssistantMessage, Message, ToolResultMessage } from "../../format/message.ts"
import { callsOf } from "../content.ts"
import type { PruneSettings } from "./settings.ts"

/**
 * Indexes, oldest first, of the results after the first user message and before the newest assistant messages, of tools that are not
 * exempt and of at least `minResultChars`.
 */
export function eligibleResults(messages: readonly Message[], exempt: readonly boolean[], s: PruneSettings): number[] {
  const from = messages.findIndex(isSaidByUser)
  const to = indexOfRecent(messages, s.keepAssistantMessages)
  const indexes: number[] = []
  if (from < 0) return indexes
  for (let i = from + 1; i < to; i++) {
    const message = messages[i] as Message
    if (message.role !== "toolResult" || exempt[i] === true) continue
    if (contentUnits(message.content) >= s.minResultChars) indexes.push(i)
  }
  return indexes
}

/** For each message, whether it is the result of an exempt tool. A result without a tool name has that of its call. */
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

/** Includes messages that are converted to user messages later: summaries and custom roles. */
function isSaidByUser({ role }: Message): boolean {
  return role !== "assistant" && role !== "toolResult" && role !== "system"
}

/** Index of the first of the `count` newest assistant messages; 0 if there are fewer. */
function indexOfRecent(messages: readonly Message[], count: number): number {
  let left = count
  let index = messages.length
  while (left > 0 && index > 0) {
    index--
    if (messages[index]?.role === "assistant") left--
  }
  return index
}
