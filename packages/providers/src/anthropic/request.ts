/** A context as `system` and `messages` of Anthropic's API. */
import type { ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { anthropicBlockOf, anthropicMessagesOf, WRAPPED_VALUE } from "@sessions/formats/messages/anthropic"
import type { Fields } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { isNative, nativeOf } from "../shared/native.ts"
import { prepare, systemApart } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { RULES } from "./rules.ts"
import { PREFIX } from "./answer.ts"
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest, AnthropicText, CacheControl } from "./types.ts"

export interface AnthropicOptions extends RequestOptions {
  /**
   * Puts `cache_control` on up to four blocks: the end of the system prompt, the summary of a compaction, and the last two user messages (tool
   * results are one). Default: none.
   */
  readonly cache?: boolean | { readonly ttl: "5m" | "1h" }
}

interface Written {
  readonly record: AnthropicMessage
  /** The index of the block that is the summary of a compaction. */
  summary?: number
}

export function toAnthropic(context: Context, o: AnthropicOptions = {}): ProviderRequest<AnthropicRequest> {
  const prepared = prepare(context, o, RULES)
  const { lost } = prepared
  const { system, messages } = systemApart(prepared)
  const written: Written[] = []
  for (const item of messages) {
    const content = sentContent(item.message, item.entryId, lost).map(sentBlock)
    const message = { ...item.message, content } as ModelMessage
    const entry = { id: item.entryId, timestamp: "", message }
    for (const record of lost.mapped(item.entryId, (losses) => anthropicMessagesOf([entry], losses)))
      add(written, record as unknown as AnthropicMessage, item)
  }
  const request: AnthropicRequest = { messages: written.map(({ record }) => record) }
  if (system.length > 0) request.system = system.map((block) => ({ ...block }) as AnthropicText)
  if (o.cache !== undefined && o.cache !== false) {
    const ttl = typeof o.cache === "object" ? { ttl: o.cache.ttl } : {}
    mark(request, written, { type: "ephemeral", ...ttl })
  }
  return { request, diagnostics: lost.diagnostics() }
}

/** What may be sent of a message. An answer that was cut off may have calls of the API's own tools without their results, which the API refuses. */
function sentContent(message: ModelMessage, entryId: string, lost: Lost): readonly ContentBlock[] {
  const { role } = message
  if (role !== "assistant") return message.content
  // Only the user's messages may have images.
  const content = message.content.filter(({ type }) => type !== "image")
  lost.add("images", entryId, message.content.length - content.length)
  if (message.stopReason !== "aborted" && message.stopReason !== "error") return content
  const results = new Set(content.map((block) => (block as Fields)["tool_use_id"]))
  const left = content.filter((block) => block.type !== SERVER_CALL || results.has((block as Fields)["id"]))
  lost.add("partial_calls", entryId, content.length - left.length)
  return left
}

const SERVER_CALL = `${PREFIX}server_tool_use`

/** A block with fields that only the API has is sent as the API's own. */
function sentBlock(block: ContentBlock): ContentBlock {
  if (block.type.startsWith(PREFIX)) {
    const value = { ...block, type: block.type.slice(PREFIX.length) }
    return { type: WRAPPED_VALUE, value }
  }
  if (!isNative(block, "anthropic")) return withoutForeign(block)
  // Arguments that are no object, which the API refuses.
  const { input: _, ...native } = nativeOf(block, "anthropic")
  const value = { ...(anthropicBlockOf(withoutForeign(block)) as Fields), ...native }
  return { type: WRAPPED_VALUE, value }
}

/** The fields of other providers: the API refuses fields that it does not know. */
function withoutForeign(block: ContentBlock): ContentBlock {
  if (block.type === "text") return { type: "text", text: block.text }
  if (block.type !== "thinking") return block
  const { type, thinking, signature } = block
  return signature === undefined ? { type, thinking } : { type, thinking, signature }
}

/** Results of all calls of a message, and what the user says next, are one message: the roles take turns. */
function add(written: Written[], record: AnthropicMessage, { kind }: ContextMessage): void {
  if (record.content.length === 0) return
  let last = written.at(-1)
  if (record.role === "user" && last?.record.role === "user")
    last.record.content = [...blocksOf(last.record), ...blocksOf(record)]
  else written.push((last = { record }))
  if (kind === "compaction" && record.role === "user") last.summary = blocksOf(last.record).length - 1
}

function blocksOf({ content }: AnthropicMessage): AnthropicBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content
}

/**
 * Four marks, which is what the API takes. The end of the system prompt covers the tools, too. The summary stays the same until the next
 * compaction. The last user message is where the next request goes on, and the one before it is where the last request has written: the API
 * looks back 20 blocks from a mark, which one turn with many calls exceeds.
 */
function mark({ system }: AnthropicRequest, written: readonly Written[], control: CacheControl): void {
  const lastSystem = system?.at(-1)
  if (lastSystem !== undefined) lastSystem.cache_control = control
  for (const { record, summary } of written) if (summary !== undefined) markBlock(record, summary, control)
  for (const { record } of written.filter(({ record }) => record.role === "user").slice(-2))
    markBlock(record, record.content.length - 1, control)
}

function markBlock(record: AnthropicMessage, index: number, control: CacheControl): void {
  const content = blocksOf(record)
  const at = typeof record.content === "string" ? 0 : index
  record.content = content.map((block, i) =>
    i === at && block.type !== "thinking" && block.type !== "redacted_thinking"
      ? { ...block, cache_control: control }
      : block,
  )
}
