/** Messages of ours from the records of a context. */
import type { ContentBlock } from "@sessions/core"
import { argumentsOfCall, type Fields, fieldsOf, imageOfDataUrl, stringOf, textBlock } from "../base/values.ts"
import { PART } from "./codec.ts"

/** Undefined for a record that is no message. Remembers the names of tools for their results. */
export function messageOf(record: Fields, toolNames: Map<string, string>): Fields | undefined {
  const { role, tool_call_id: toolCallId } = record
  const content = blocksOf(record["content"])
  if (content === undefined) return undefined
  if (role === "assistant") return { role, content: [...content, ...callsOf(record["tool_calls"], toolNames)] }
  if (role === "system") return { role, content }
  if (role === "user") return { role, content, ...madeBy(content) }
  if (role !== "tool" || typeof toolCallId !== "string") return undefined
  const toolName = toolNames.get(toolCallId)
  const name = toolName === undefined ? {} : { toolName }
  return { role: "toolResult", toolCallId, ...name, isError: hasFailed(content), content }
}

function blocksOf(content: unknown): readonly ContentBlock[] | undefined {
  if (content === null || content === undefined || content === "") return []
  if (typeof content === "string") return [textBlock(content)]
  return Array.isArray(content) ? (content as readonly unknown[]).map(blockOf) : undefined
}

function blockOf(part: unknown): ContentBlock {
  const { type, text, think, encrypted, image_url: image } = fieldsOf(part)
  if (type === "text" && typeof text === "string") return textBlock(text)
  if (type === "think" && typeof think === "string")
    return { type: "thinking", thinking: think, ...(typeof encrypted === "string" ? { signature: encrypted } : {}) }
  const found = type === "image_url" ? imageOfDataUrl(fieldsOf(image)["url"]) : undefined
  return found ?? { type: PART, part }
}

function callsOf(calls: unknown, toolNames: Map<string, string>): readonly ContentBlock[] {
  if (!Array.isArray(calls)) return []
  return (calls as readonly unknown[]).map((call) => {
    const { id, function: called } = fieldsOf(call)
    const { name, arguments: args } = fieldsOf(called)
    if (typeof id !== "string" || typeof name !== "string") return { type: PART, part: call }
    toolNames.set(id, name)
    return { type: "toolCall", id, name, arguments: argumentsOfCall(args ?? {}) }
  })
}

/** What the agent says for a user is in tags, which a person does not type: checkpoints, reminders, and the summary of a compaction. */
function madeBy(content: readonly ContentBlock[]): Fields {
  const first = textIn(content[0])
  if (first?.startsWith(COMPACTED) === true) return { synthetic: true, summary: true }
  const isMade = content.length > 0 && content.every((block) => MADE.test(textIn(block) ?? ""))
  return isMade ? { synthetic: true } : {}
}

const MADE = /^\s*<(system|system-reminder|notification)\b[^>]*>[^]*<\/\1>\s*$/

const COMPACTED = "<system>Previous context has been compacted."

function hasFailed(content: readonly ContentBlock[]): boolean {
  return textIn(content[0])?.startsWith("<system>ERROR") === true
}

function textIn(block: ContentBlock | undefined): string | undefined {
  return block?.type === "text" ? stringOf(block["text"]) : undefined
}
