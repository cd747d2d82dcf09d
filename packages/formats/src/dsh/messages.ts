/** Messages of ours from the events that a model gets. */
import type { ContentBlock } from "@sessions/core"
import { argumentsOfCall, type Fields, fieldsOf, isObject, numberOf, stringOf, textBlock } from "../base/values.ts"
import { BLOCK } from "./codec.ts"

/** Undefined for an event that is no message. Remembers the names of tools for their results. */
export function messageOf({ type, data }: Fields, toolNames: Map<string, string>): Fields | undefined {
  const fields = fieldsOf(data)
  // The oldest events have the message of a user beside their own fields.
  const message = isObject(fields["message"]) ? fields["message"] : fields
  const { content, source } = message
  if (typeof content !== "string" && !Array.isArray(content)) return undefined
  switch (type) {
    case "user/message":
    case "steering/message":
      return { role: "user", content: blocksOf(content), ...(isTyped(source) ? {} : { synthetic: true }) }
    case "system/message":
      return { role: "system", content: blocksOf(content) }
    case "assistant/message":
      return assistantMessage(blocksOf(content, toolNames), source, fields["usage"])
    case "tool/result":
      return resultOf(content, toolNames)
    default:
      return undefined
  }
}

/** Plugins say what changed, which skill was loaded, and what a schedule asks. */
function isTyped(source: unknown): boolean {
  const { kind } = fieldsOf(source)
  return kind === undefined || kind === "user"
}

function assistantMessage(content: readonly ContentBlock[], source: unknown, usage: unknown): Fields {
  const { provider, model } = fieldsOf(source)
  const counted = usageOf(usage)
  return {
    role: "assistant",
    content,
    ...(typeof provider === "string" && typeof model === "string" ? { provider, model } : {}),
    ...(counted === undefined ? {} : { usage: counted }),
  }
}

function resultOf(content: unknown, toolNames: ReadonlyMap<string, string>): Fields | undefined {
  const result = Array.isArray(content) ? fieldsOf(content[0]) : {}
  const { toolCallId, content: parts, isError } = result
  if (typeof toolCallId !== "string") return undefined
  const toolName = toolNames.get(toolCallId)
  const name = toolName === undefined ? {} : { toolName }
  return { role: "toolResult", toolCallId, ...name, isError: isError === true, content: blocksOf(parts) }
}

export function blocksOf(content: unknown, toolNames?: Map<string, string>): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  if (!Array.isArray(content)) return []
  return (content as readonly unknown[]).map((block): ContentBlock => {
    const { type, text, id, name, arguments: args } = fieldsOf(block)
    if (type === "text" && typeof text === "string") return textBlock(text)
    if (type === "reasoning" && typeof text === "string") return { type: "thinking", thinking: text }
    if (type !== "tool-call" || typeof id !== "string" || typeof name !== "string") return { type: BLOCK, block }
    toolNames?.set(id, name)
    return { type: "toolCall", id, name, arguments: argumentsOfCall(args ?? {}) }
  })
}

/** The counts of the agent are disjoint, as ours. */
function usageOf(usage: unknown): Fields | undefined {
  if (!isObject(usage)) return undefined
  const counts = {
    input: numberOf(usage["inputTokens"]),
    output: numberOf(usage["outputTokens"]),
    cacheRead: numberOf(usage["cacheReadTokens"]),
    cacheWrite: numberOf(usage["cacheWriteTokens"]),
  }
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined))
}

/** The id that the message of an event has. */
export function messageIdOf({ data }: Fields): string | undefined {
  const fields = fieldsOf(data)
  return stringOf(fieldsOf(fields["message"])["id"]) ?? stringOf(fields["id"])
}
