/** Which results may be shortened at all, as the docs say it: an oracle for the laws of pruning. */
import type { Message } from "../src/format/message.ts"
import type { PruneSettings } from "../src/context/prune/settings.ts"
import { contentUnits } from "../src/context/prune/sizes.ts"

/**
 * Indexes, oldest first, of the results after the first user message and before the newest assistant messages, of tools that are not
 * exempt and of at least `minResultChars`.
 */
export function eligibleResults(messages: readonly Message[], s: PruneSettings): number[] {
  const from = messages.findIndex(({ role }) => role !== "assistant" && role !== "toolResult" && role !== "system")
  const assistants = messages.flatMap(({ role }, index) => (role === "assistant" ? [index] : []))
  const { keepAssistantMessages: kept } = s
  const to = kept === 0 ? messages.length : (assistants[assistants.length - kept] ?? 0)
  if (from < 0) return []
  return messages.flatMap((message, index) => {
    const isOld = index > from && index < to && message.role === "toolResult"
    return isOld && !isExempt(messages, index, s) && contentUnits(message.content) >= s.minResultChars ? [index] : []
  })
}

/** A result without a tool name has that of its call, which is the last one before it with its id. */
export function isExempt(messages: readonly Message[], index: number, { exemptTools }: PruneSettings): boolean {
  const { toolName, toolCallId } = messages[index] as Message
  const calls = messages.slice(0, index).flatMap(({ content = [] }) => content)
  const call = calls.findLast((block) => block.type === "toolCall" && block["id"] === toolCallId)
  return exemptTools.includes(String(toolName ?? call?.["name"] ?? ""))
}
