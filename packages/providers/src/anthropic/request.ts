/** A context as `system` and `messages` of Anthropic's API. */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { anthropicBlockOf, anthropicMessagesOf, WRAPPED_VALUE } from "@sessions/formats/messages/anthropic"
import { type Fields, isObject } from "@sessions/formats/messages/values"
import { addAll } from "../shared/add-all.ts"
import { checkCall, checkContext, type Checks, COUNT, kind, oneOf, optionsOf, REQUEST, TIME } from "../shared/check.ts"
import type { Lost } from "../shared/lost.ts"
import { isNative, nativeOf } from "../shared/native.ts"
import { Turns } from "../shared/order.ts"
import { prepare, systemApart } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { PREFIX } from "./answer.ts"
import { Hosted } from "./hosted.ts"
import { THINKING, RULES } from "./rules.ts"
import type { AnthropicBlock, AnthropicMessage, AnthropicRequest, AnthropicText, CacheControl } from "./types.ts"

export interface AnthropicOptions extends RequestOptions {
  /**
   * Puts `cache_control` on up to four blocks: the end of the system prompt, the summary of a compaction, and the last two user messages (tool
   * results are one). Default: none.
   */
  readonly cache?: boolean | { readonly ttl: "5m" | "1h" }
  /**
   * Images of a request. When there are more, the oldest are left out, down to half of this. Default 100, which models with a window of 200,000 tokens
   * take; those with a larger one take 600.
   */
  readonly maxImages?: number
  /** In ms since 1970: calls in a container of the API that has expired by then are left out. Default `Date.now()`. */
  readonly now?: number
}

interface Written {
  readonly record: AnthropicMessage
  /** The index of the block that is the summary of a compaction. */
  summary?: number
}

const CACHED = optionsOf<{ readonly ttl: "5m" | "1h" }>({ ttl: oneOf("5m", "1h") }, ["ttl"])
const IS_CACHED = kind('true, false or { ttl: "1h" }', (value) => typeof value === "boolean")

const OPTIONS: Checks<AnthropicOptions> = {
  ...REQUEST,
  cache: (value, call, name) => (isObject(value) ? CACHED : IS_CACHED)(value, call, name),
  maxImages: COUNT,
  now: TIME,
}

export function toAnthropic(context: Context, o: AnthropicOptions = {}): ProviderRequest<AnthropicRequest> {
  checkContext("toAnthropic", context)
  checkCall("toAnthropic", o, OPTIONS)
  const images = o.maxImages === undefined ? RULES.images : { ...RULES.images, maxCount: o.maxImages }
  const prepared = prepare(context, o, { ...RULES, images })
  const { lost } = prepared
  const { system, messages } = systemApart(prepared)
  const hosted = new Hosted(messages, o.now ?? Date.now())
  const turns = new Turns<Written>(RULES, lost, {
    roleOf: ({ record }) => record.role,
    user: (content) => ({ record: { role: "user", content } }),
    // Results of all calls of a message, and what the user says next, are one message.
    join: ({ record }, next) => {
      const blocks = blocksOf(record)
      addAll(blocks, blocksOf(next.record))
      record.content = blocks
    },
  })
  for (const item of messages) {
    const { message, entryId } = item
    const content = message.role === "assistant" ? answerBlocks(message, entryId, hosted, lost) : message.content
    const entry = {
      id: entryId,
      timestamp: "",
      message: { ...message, content: content.map(sentBlock) } as ModelMessage,
    }
    for (const found of lost.mapped(entryId, (losses) => anthropicMessagesOf([entry], losses))) {
      const record = found as unknown as AnthropicMessage
      if (message.role === "assistant") record.content = withoutLastThinking(blocksOf(record), entryId, lost)
      add(turns, record, item, hosted.isPaused(message))
    }
  }
  const written = turns.end()
  const request: AnthropicRequest = { messages: written.map(({ record }) => record) }
  if (system.length > 0) request.system = system.map((block) => ({ ...block }) as AnthropicText)
  if (hosted.container !== undefined) request.container = hosted.container
  if (o.cache !== undefined && o.cache !== false) {
    const ttl = typeof o.cache === "object" ? { ttl: o.cache.ttl } : {}
    mark(request, written, { type: "ephemeral", ...ttl })
  }
  return { request, diagnostics: lost.diagnostics() }
}

/** What may be sent of an answer: no half of a hosted call, no images, which only the user's messages may have, and no unsigned thinking. */
function answerBlocks(message: AssistantMessage, entryId: string, hosted: Hosted, lost: Lost): readonly ContentBlock[] {
  return hosted.kept(message, entryId, lost).filter((block) => {
    if (block.type === "image") lost.add("images", entryId)
    else if (isUnsigned(block)) lost.add("thinking", entryId)
    else return true
    return false
  })
}

/** Thinking stays where something follows it. */
function withoutLastThinking(sent: AnthropicBlock[], entryId: string, lost: Lost): AnthropicBlock[] {
  const end = sent.findLastIndex(({ type }) => !THINKING.has(type)) + 1
  lost.add("thinking", entryId, sent.length - end)
  return sent.slice(0, end)
}

/** The signature of thinking that was cut off is missing, or an empty text in the logs of other programs. */
function isUnsigned(block: ContentBlock): boolean {
  return block.type === "thinking" && (block.signature ?? "") === ""
}

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

function add(turns: Turns<Written>, record: AnthropicMessage, item: ContextMessage, isPaused: boolean): void {
  if (record.content.length === 0) return turns.leaveOut(item)
  const written = turns.add({ record }, item, isPaused)
  if (item.kind === "compaction" && record.role === "user") written.summary = blocksOf(written.record).length - 1
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
