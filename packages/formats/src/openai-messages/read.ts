/** Messages of ours from those of the Chat Completions API. */
import type { ContentBlock } from "@sessions/core"
import {
  argumentsOfCall,
  type Fields,
  fieldsOf,
  imageOfDataUrl,
  isObject,
  stringOf,
  textBlock,
} from "../base/values.ts"

/** A part of a content that ours do not have, as it was. */
export const PART = "openai:part"

/** Undefined for a record that cannot be a message. Remembers the names of tools for their results. */
export function messageOf(record: Fields, toolNames: Map<string, string>): Fields | undefined {
  const { role } = record
  const content = blocksOf(record["content"])
  if (content === undefined) return undefined
  if (role === "system" || role === "developer") return { role: "system", content }
  if (role === "user") return { role, content }
  if (role === "assistant") {
    const calls = callsOf(record)
    for (const { id, name } of calls) toolNames.set(id as string, name as string)
    return { role, content: [...thinkingOf(record), ...content, ...calls] }
  }
  const toolCallId = stringOf(record["tool_call_id"]) ?? functionId(record)
  if ((role !== "tool" && role !== "function") || toolCallId === undefined) return undefined
  const toolName = toolNames.get(toolCallId)
  return { role: "toolResult", toolCallId, ...(toolName === undefined ? {} : { toolName }), isError: false, content }
}

/** Undefined for a value that is no content. A message with calls may have none, or null. */
function blocksOf(content: unknown): readonly ContentBlock[] | undefined {
  if (content === undefined || content === null || content === "") return []
  if (typeof content === "string") return [textBlock(content)]
  return Array.isArray(content) ? (content as readonly unknown[]).map(blockOf) : undefined
}

function blockOf(part: unknown): ContentBlock {
  const { type, text, image_url: image } = fieldsOf(part)
  if (type === "text" && typeof text === "string") return textBlock(text)
  const found = type === "image_url" ? imageOfDataUrl(fieldsOf(image)["url"]) : undefined
  return found ?? { type: PART, part }
}

/** The readable reasoning that some providers give. */
function thinkingOf({ reasoning_content: text, reasoning }: Fields): readonly ContentBlock[] {
  const thinking = stringOf(text) ?? stringOf(reasoning) ?? ""
  return thinking === "" ? [] : [{ type: "thinking", thinking }]
}

/** Calls of functions and of custom tools, and the one call of the older API, which has no id. */
function callsOf({ tool_calls: calls, function_call: older }: Fields): ContentBlock[] {
  const found = Array.isArray(calls) ? (calls as readonly unknown[]).flatMap(callOf) : []
  const id = isObject(older) ? functionId(older) : undefined
  return id === undefined ? found : [...found, ...callOf({ id, function: older })]
}

function callOf(call: unknown): readonly ContentBlock[] {
  const { id, function: called, custom } = fieldsOf(call)
  const { name, arguments: text } = fieldsOf(called ?? custom)
  if (typeof id !== "string" || typeof name !== "string") return [{ type: PART, part: call }]
  const args = isObject(custom) ? { input: custom["input"] ?? null } : undefined
  const known = args ?? argumentsOfCall(text ?? {})
  return [{ type: "toolCall", id, name, arguments: known }]
}

function functionId({ name }: Fields): string | undefined {
  return typeof name === "string" ? `function:${name}` : undefined
}
