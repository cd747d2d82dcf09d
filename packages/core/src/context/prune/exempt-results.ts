/** Which tool results are never shortened. */
import type { Message } from "../../format/message.ts"
import { callsOf } from "../content.ts"

/** Default of `exemptTools`. */
export const EXEMPT_TOOLS: readonly string[] = ["skill"]

/** For each message, whether it is the result of an exempt tool. A result without a tool name has that of its call. */
export function exemptResults(messages: readonly Message[], tools: readonly string[]): readonly boolean[] {
  const names = new Map<string, string>()
  return messages.map((message) => {
    if (message.role === "assistant") for (const { id, name } of callsOf(message)) names.set(id, name)
    if (message.role !== "toolResult") return false
    const { toolName, toolCallId } = message
    return tools.includes(toolName ?? names.get(toolCallId) ?? "")
  })
}
