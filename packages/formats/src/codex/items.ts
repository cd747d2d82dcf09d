/**
 * Turns Responses API items, the conversation in a rollout, into messages, and messages into items. An item is `{type, …}`: a message, a
 * reasoning, a tool call or the output of one. Items of other types have no place in a message and are kept aside by the reader.
 */
import type { ContentBlock } from "@sessions/core"
import {
  argumentsOf,
  argumentsOfCall,
  dataUrlOf,
  type Fields,
  fieldsOf,
  imageOfDataUrl,
  isObject,
  stringOf,
  textBlock,
  jsonOf,
} from "../base/values.ts"

/** A block of thinking: the readable summary, and the encrypted reasoning as its signature. */
export interface Thinking {
  readonly type: "thinking"
  readonly thinking: string
  readonly signature?: string
}

/** A message without what its surroundings add, such as the model. Undefined for an item that is no message. */
export function messageOfItem(item: Fields, toolNames: ReadonlyMap<string, string>): Fields | undefined {
  switch (item["type"]) {
    case "message":
      return messageOfText(item)
    case "function_call":
      return callOf(item["call_id"], item["name"], argumentsOfCall(item["arguments"]))
    case "custom_tool_call":
      return callOf(item["call_id"], item["name"], { input: item["input"] ?? null })
    case "local_shell_call":
      return callOf(item["call_id"] ?? item["id"], "local_shell", argumentsOf(item["action"]))
    case "function_call_output":
    case "custom_tool_call_output":
      return resultOf(item, toolNames)
    default:
      return undefined
  }
}

function messageOfText(item: Fields): Fields | undefined {
  const content = blocksOf(item["content"])
  if (content === undefined) return undefined
  switch (item["role"]) {
    case "user":
      return { role: "user", content, ...(isContextual(item) ? { synthetic: true } : {}) }
    case "assistant":
      return { role: "assistant", content }
    case "developer":
    case "system":
      return { role: "system", content, synthetic: true }
    default:
      return undefined
  }
}

function callOf(id: unknown, name: unknown, args: Fields): Fields | undefined {
  if (typeof id !== "string" || typeof name !== "string") return undefined
  return { role: "assistant", content: [{ type: "toolCall", id, name, arguments: args }] }
}

function resultOf({ call_id: id, output }: Fields, toolNames: ReadonlyMap<string, string>): Fields | undefined {
  // Older versions write {content, success}.
  const body = isObject(output) ? output["content"] : output
  const content = blocksOf(body)
  if (typeof id !== "string" || content === undefined) return undefined
  const toolName = toolNames.get(id)
  const isError = fieldsOf(output)["success"] === false
  return { role: "toolResult", toolCallId: id, ...(toolName === undefined ? {} : { toolName }), isError, content }
}

/** Undefined for a content that cannot be blocks. */
export function blocksOf(content: unknown): readonly ContentBlock[] | undefined {
  if (typeof content === "string") return [textBlock(content)]
  if (!Array.isArray(content)) return undefined
  const blocks: ContentBlock[] = []
  for (const part of content as readonly unknown[]) {
    if (!isObject(part) || typeof part["type"] !== "string" || KNOWN_BLOCKS.has(part["type"])) return undefined
    blocks.push(blockOf(part))
  }
  return blocks
}

/** Names of blocks in this project, which mean something else in an item. */
const KNOWN_BLOCKS: ReadonlySet<string> = new Set(["thinking", "image", "file", "toolCall"])

function blockOf(part: Fields): ContentBlock {
  const { type, text } = part
  if (TEXTS.has(type as string)) return textBlock(stringOf(text) ?? "")
  const image = type === "input_image" ? imageOfDataUrl(part["image_url"]) : undefined
  return image ?? (part as unknown as ContentBlock)
}

const TEXTS: ReadonlySet<string> = new Set(["input_text", "output_text", "text"])

export function thinkingOf(item: Fields): Thinking {
  const summary = joined(item["summary"]) ?? joined(item["content"]) ?? ""
  const signature = stringOf(item["encrypted_content"])
  return { type: "thinking", thinking: summary, ...(signature === undefined ? {} : { signature }) }
}

function joined(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined
  const texts = (parts as readonly unknown[]).flatMap((part) => stringOf(fieldsOf(part)["text"]) ?? [])
  return texts.length === 0 ? undefined : texts.join("\n\n")
}

/** Whether a user message was made by Codex: the environment, AGENTS.md, a skill, a command of the user. */
function isContextual({ content, internal_chat_message_metadata_passthrough: passed }: Fields): boolean {
  const kinds = fieldsOf(passed)["content_item_kinds"]
  if (Array.isArray(kinds) && kinds.some((kind) => typeof kind === "string" && kind.startsWith("user."))) return false
  const parts: readonly unknown[] = Array.isArray(content) ? content : [{ text: content }]
  return parts.some((part) => {
    const text = stringOf(fieldsOf(part)["text"])?.trimStart().toLowerCase() ?? ""
    return CONTEXTUAL.some((start) => text.startsWith(start))
  })
}

/** In lower case; `codex-rs/core/src/context` of Codex, where each fragment has its markers. */
const CONTEXTUAL = [
  "# agents.md instructions",
  "<environment_context>",
  "<user_instructions>",
  "<skill>",
  "<skills_instructions>",
  "<user_shell_command>",
  "<turn_aborted>",
  "<subagent_notification>",
]

/** The items of a message: a reasoning for each block of thinking, then a message, a call or an output. */
export function itemsOfMessage(message: Fields, options: { readonly withThinking: boolean }): Fields[] {
  const content = (message["content"] ?? []) as readonly ContentBlock[]
  if (message["role"] === "toolResult") {
    return [{ type: "function_call_output", call_id: message["toolCallId"], output: outputOf(content) }]
  }
  const items: Fields[] = []
  let texts: ContentBlock[] = []
  const role = message["role"] === "system" ? "developer" : message["role"]
  const flush = (): void => {
    if (texts.length > 0) items.push({ type: "message", role, content: texts.map((block) => partOf(block, role)) })
    texts = []
  }
  for (const block of content) {
    if (block.type === "thinking") {
      if (options.withThinking) items.push(reasoningOf(block))
    } else if (block.type === "toolCall") {
      flush()
      const { id, name, arguments: args } = block as unknown as Fields
      items.push({ type: "function_call", name, arguments: jsonOf(args), call_id: id })
    } else texts.push(block)
  }
  flush()
  return items
}

function reasoningOf({ thinking, signature }: Thinking): Fields {
  const summary = thinking === "" ? [] : [{ type: "summary_text", text: thinking }]
  return { type: "reasoning", summary, ...(signature === undefined ? {} : { encrypted_content: signature }) }
}

function outputOf(content: readonly ContentBlock[]): unknown {
  const only = content[0]
  if (content.length === 1 && only?.type === "text") return only.text
  return content.map((block) => partOf(block, "user"))
}

function partOf(block: ContentBlock, role: unknown): Fields {
  if (block.type === "text") return { type: role === "assistant" ? "output_text" : "input_text", text: block.text }
  if (block.type === "image") return { type: "input_image", image_url: dataUrlOf(block) }
  return block
}

/** Whether Codex can read the block: blocks of other programs would make it refuse the file. */
export function isWritable({ type }: ContentBlock): boolean {
  return WRITABLE.has(type) || type.startsWith("input_") || type.startsWith("output_")
}

const WRITABLE: ReadonlySet<string> = new Set(["text", "image", "thinking", "toolCall"])
