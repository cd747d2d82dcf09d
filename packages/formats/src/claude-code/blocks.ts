/** Content blocks of the Anthropic API as ours, and back. Fields that ours do not have are kept by the codec of the line. */
import type { ContentBlock, ToolResultMessage, Usage } from "@sessions/core"
import { isKnownBlock } from "@sessions/core/format"
import type { CallRules } from "../base/call-ids.ts"
import { argumentsOf, type Fields, fieldsOf, isObject, numberOf, stringOf, textBlock } from "../base/values.ts"

/** Blocks of a `content`, which is a text or an array of blocks. An empty text is no block. */
export function blocksOf(content: unknown): ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  return Array.isArray(content) ? content.map(blockOf) : []
}

/** A block of a type of ours with other fields, and a value that is no block, are wrapped: core refuses malformed blocks. */
function blockOf(value: unknown): ContentBlock {
  const type = isObject(value) ? stringOf(value["type"]) : undefined
  if (!isObject(value) || type === undefined) return { type: WRAPPED_VALUE, value }
  const block = knownBlock(type, value)
  if (block !== undefined) return isKnownBlock(block) ? block : { type: WRAPPED_VALUE, value }
  const isOurs = OUR_TYPES.has(type) || type.startsWith(PREFIX)
  return isOurs ? { type: WRAPPED_VALUE, value } : (value as unknown as ContentBlock)
}

const PREFIX = "claude-code:"
/** Type of a block whose `value` is written to the API as it is. */
export const WRAPPED_VALUE = "claude-code:block"
const OUR_TYPES: ReadonlySet<string> = new Set(["text", "thinking", "image", "file", "toolCall"])

function knownBlock(type: string, value: Fields): ContentBlock | undefined {
  switch (type) {
    case "text":
      return hasFields(value, TEXT_FIELDS) ? value : { type, text: value["text"] as string }
    case "thinking": {
      if (hasFields(value, THINKING_FIELDS)) return value
      const block = { type, thinking: value["thinking"] as string }
      return value["signature"] === undefined ? block : { ...block, signature: value["signature"] as string }
    }
    case "tool_use":
      return {
        type: "toolCall",
        id: value["id"] as string,
        name: value["name"] as string,
        arguments: argumentsOf(value["input"]),
      }
    case "image": {
      const { type: kind, media_type: mimeType, data } = fieldsOf(value["source"])
      return kind === "base64" ? { type, mimeType: mimeType as string, data: data as string } : undefined
    }
    default:
      return undefined
  }
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(["type", "text"])
const THINKING_FIELDS: ReadonlySet<string> = new Set(["type", "thinking", "signature"])

/** Whether a block has these fields only: then it is the same in both, and is not copied. */
function hasFields(value: Fields, fields: ReadonlySet<string>): value is Fields & ContentBlock {
  for (const key in value) if (!fields.has(key)) return false
  return true
}

/** The block as the API has it; undefined for one that it has not. */
export function apiBlockOf(block: ContentBlock): unknown {
  switch (block.type) {
    case "toolCall":
      return { type: "tool_use", id: block["id"], name: block["name"], input: block["arguments"] }
    case "image":
      return { type: "image", source: { type: "base64", media_type: block["mimeType"], data: block["data"] } }
    case WRAPPED_VALUE:
      return block["value"]
    default:
      return block
  }
}

/** Types of blocks that the Anthropic API has and ours have not: they are in imported sessions unchanged. */
export const API_TYPES: ReadonlySet<string> = new Set([
  "redacted_thinking",
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "mcp_tool_use",
  "mcp_tool_result",
  "document",
  "search_result",
  WRAPPED_VALUE,
])

/**
 * "String should match pattern '^[a-zA-Z0-9_-]+$'", the 400 of Anthropic's API for ids of calls; for names of tools the pattern is
 * '^[a-zA-Z0-9_-]{1,128}$', https://github.com/github/copilot-cli/issues/454, 2025-11-03.
 */
export const API_CALLS: CallRules = { refused: /[^a-zA-Z0-9_-]/g, nameLength: 128 }

export function isToolResult(block: unknown): block is Fields {
  return isObject(block) && block["type"] === "tool_result" && typeof block["tool_use_id"] === "string"
}

export function resultOf(block: Fields, toolName: string | undefined): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: block["tool_use_id"] as string,
    ...(toolName === undefined ? {} : { toolName }),
    isError: block["is_error"] === true,
    content: blocksOf(block["content"]),
  }
}

/** `asBlocks`: a content of one text is a list, too. */
export function apiResultOf({ toolCallId, isError, content }: ToolResultMessage, asBlocks: boolean): Fields {
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    content: apiContentOf(content, asBlocks),
    ...(isError ? { is_error: true } : {}),
  }
}

/** A content of nothing but one text is that text, unless `asBlocks`. */
export function apiContentOf(content: readonly ContentBlock[], asBlocks: boolean): unknown {
  if (asBlocks) return content.map(apiBlockOf)
  if (content.length === 0) return ""
  const [only] = content
  return content.length === 1 && only?.type === "text" ? only["text"] : content.map(apiBlockOf)
}

/** Whether a content must be encoded with `asBlocks` to be as it was. */
export function isListOfText(content: unknown): boolean {
  return (
    Array.isArray(content) &&
    (content.length === 0 || (content.length === 1 && fieldsOf(content[0])["type"] === "text"))
  )
}

export function usageOf(usage: unknown): Usage | undefined {
  if (!isObject(usage)) return undefined
  const input = numberOf(usage["input_tokens"])
  const output = numberOf(usage["output_tokens"])
  const cacheRead = numberOf(usage["cache_read_input_tokens"])
  const cacheWrite = numberOf(usage["cache_creation_input_tokens"])
  const found: { -readonly [K in keyof Usage]: Usage[K] } = {}
  if (input !== undefined) found.input = input
  if (output !== undefined) found.output = output
  if (cacheRead !== undefined) found.cacheRead = cacheRead
  if (cacheWrite !== undefined) found.cacheWrite = cacheWrite
  return (input ?? output ?? cacheRead ?? cacheWrite) === undefined ? undefined : found
}

export function apiUsageOf({ input, output, cacheRead, cacheWrite }: Usage): Fields {
  const found: Record<string, unknown> = {}
  if (input !== undefined) found["input_tokens"] = input
  if (output !== undefined) found["output_tokens"] = output
  if (cacheRead !== undefined) found["cache_read_input_tokens"] = cacheRead
  if (cacheWrite !== undefined) found["cache_creation_input_tokens"] = cacheWrite
  return found
}
