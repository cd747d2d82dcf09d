/** A message of the assistant as one of the Chat Completions API, with what its provider wants back. */
import type { AssistantMessage, ContentBlock, ContextMessage, ToolCallBlock } from "@sessions/core"
import { CHAT_PART, chatMessageOf } from "@sessions/formats/messages/openai-chat"
import { type Fields, fieldsOf, isObject, numberOf, stringOf, textBlock } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { nativeOf } from "../shared/native.ts"
import { AUDIO, thinkingPart } from "./answer.ts"
import { extrasOf } from "./extras.ts"
import type { ChatRules } from "./rules.ts"
import type { ChatMessage } from "./types.ts"

export interface Receiver {
  readonly rules: ChatRules
  /** The name of the provider in the log; undefined if it has given no answer yet. */
  readonly provider: string | undefined
  /** In milliseconds since 1970. */
  readonly now: number
  readonly lost: Lost
}

/** Undefined if nothing is left of it. */
export function assistantRecord(item: ContextMessage<AssistantMessage>, to: Receiver): ChatMessage | undefined {
  const { message, entryId } = item
  const { rules, lost } = to
  const isOwn = isFrom(message, to)
  const content: ContentBlock[] = []
  /** Places of their own: only OpenAI has them. */
  const apart: Fields = {}
  for (const block of message.content) Object.assign(apart, apartOf(block, isOwn, entryId, to))
  for (const block of message.content) {
    if (block.type === "thinking" || isApart(block, apart)) continue
    if (block.type === CHAT_PART && !(isOwn && rules.otherParts)) lost.add("blocks", entryId)
    else content.push(block)
  }
  const record = lost.mapped(entryId, (losses) => chatMessageOf({ ...message, content }, losses))
  const calls = content.filter((block): block is ToolCallBlock => block.type === "toolCall")
  const thinking = thinkingFields(message, isOwn, calls.length > 0, entryId, to)
  const parts = rules.thinkingParts && isOwn ? message.content.flatMap(partOfThinking) : []
  const sent: Fields = {
    ...record,
    content: contentOf(record["content"], parts, rules, calls.length > 0),
    ...apart,
    ...thinking,
    ...(calls.length === 0 ? {} : { tool_calls: callsOf(calls, isOwn, rules) }),
  }
  if (!isEmpty(sent)) return sent as unknown as ChatMessage
  // What is only thought is no answer that an API takes back.
  if (Object.keys(thinking).length > 0) lost.add("thinking", entryId)
  return undefined
}

function isFrom({ provider, content }: AssistantMessage, { provider: receiver, rules }: Receiver): boolean {
  if (provider === receiver) return true
  // Who has not named the provider has its answers under OpenAI's name, which gives none of these fields.
  return !rules.isOpenAI && provider === "openai" && Object.keys(extrasOf(content)).length > 0
}

function apartOf(block: ContentBlock, isOwn: boolean, entryId: string, { rules, now, lost }: Receiver): Fields {
  if (isRefusal(block)) return rules.isOpenAI ? { refusal: block.text } : {}
  const audio = audioOf(block)
  if (audio === undefined) return {}
  const id = stringOf(audio["id"])
  if (isOwn && rules.isOpenAI && id !== undefined && (numberOf(audio["expires_at"]) ?? 0) * 1000 > now)
    return { audio: { id } }
  if (block.type === AUDIO)
    lost.add("blocks", entryId, 1, "the audio has ended, or is another provider's, and has no transcript")
  else if (isOwn && rules.isOpenAI) lost.add("expired", entryId)
  return {}
}

function isApart(block: ContentBlock, { refusal, audio }: Fields): boolean {
  if (block.type === AUDIO) return true
  return (isRefusal(block) && refusal === block.text) || (audioOf(block) !== undefined && audio !== undefined)
}

function isRefusal(block: ContentBlock): block is ContentBlock & { readonly text: string } {
  return block.type === "text" && fieldsOf(block)["refusal"] === true
}

function audioOf(block: ContentBlock): Fields | undefined {
  if (block.type === AUDIO) return block
  const { audio } = nativeOf(block, "openai-chat")
  return isObject(audio) ? audio : undefined
}

/** What goes back of the thinking, and of the fields that only its provider has. */
function thinkingFields(
  { content }: AssistantMessage,
  isOwn: boolean,
  hasCalls: boolean,
  entryId: string,
  { rules, lost }: Receiver,
): Fields {
  const extras = isOwn ? extrasOf(content) : {}
  const fields: Record<string, unknown> = {}
  for (const key of rules.fields) if (extras[key] !== undefined) fields[key] = extras[key]
  // They say the same; OpenRouter takes one of them.
  if (fields["reasoning_details"] !== undefined) delete fields["reasoning"]
  const { reasoning } = rules
  const blocks = content.filter(({ type }) => type === "thinking")
  const own = isOwn ? blocks.map((block) => String((block as Fields)["thinking"])).join("\n\n") : ""
  if (reasoning !== undefined && own !== "") fields["reasoning_content"] ??= own
  if (reasoning !== undefined && (hasCalls || reasoning.of === "all"))
    if ((fields["reasoning_content"] ?? "") === "") fields["reasoning_content"] = reasoning.empty
  const isSent = isOwn && (rules.thinkingParts || Object.keys(fields).length > 0)
  if (!isSent) lost.add("thinking", entryId, blocks.length)
  return fields
}

function partOfThinking(block: ContentBlock): readonly Fields[] {
  if (block.type !== "thinking" || block.thinking === "") return []
  return [{ ...thinkingPart(block.thinking), ...nativeOf(block, "openai-chat") }]
}

function contentOf(written: unknown, thinking: readonly Fields[], rules: ChatRules, hasCalls: boolean): unknown {
  const content = rules.joinsTexts ? joinedTexts(written) : written
  if (thinking.length === 0) return rules.joinsTexts && hasCalls ? (content ?? "") : content
  if (typeof content === "string") return content === "" ? thinking : [...thinking, textBlock(content)]
  return [...thinking, ...(Array.isArray(content) ? (content as readonly unknown[]) : [])]
}

/** A content of texts as one text: some servers take no parts. */
export function joinedTexts(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  const texts = (content as readonly unknown[]).map((part) => {
    const { type, text } = fieldsOf(part)
    return type === "text" && typeof text === "string" ? text : undefined
  })
  return texts.every((text) => text !== undefined) ? texts.join("\n\n") : content
}

function callsOf(calls: readonly ToolCallBlock[], isOwn: boolean, rules: ChatRules): readonly Fields[] {
  const sent = calls.map((call) => sentCall(call, isOwn, rules))
  const { foreignCall, callFields } = rules
  const isSigned = sent.some((call) => callFields.some((key) => call[key] !== undefined))
  return foreignCall === undefined || isSigned
    ? sent
    : sent.map((call, i) => (i === 0 ? { ...call, ...foreignCall } : call))
}

function sentCall(call: ToolCallBlock, isOwn: boolean, { callFields, isOpenAI }: ChatRules): Fields {
  const { id, name, arguments: args } = call
  const native = nativeOf(call, "openai-chat")
  const more = isOwn
    ? Object.fromEntries(callFields.filter((key) => key in native).map((key) => [key, native[key]]))
    : {}
  if (native["type"] === "custom" && isOpenAI) {
    const { input } = fieldsOf(native["custom"])
    return { id, type: "custom", custom: { name, input: input ?? args["input"] }, ...more }
  }
  const text = stringOf(fieldsOf(native["function"])["arguments"])
  return {
    id,
    type: "function",
    function: { name, arguments: isJsonObject(text) ? text : JSON.stringify(args) },
    ...more,
  }
}

/** The text that the model wrote, unless it is no JSON: servers read it. */
function isJsonObject(text: string | undefined): boolean {
  if (text === undefined) return false
  try {
    return isObject(JSON.parse(text))
  } catch {
    return false
  }
}

function isEmpty({ content, tool_calls: calls, refusal, audio }: Fields): boolean {
  const isWithout = content === null || content === undefined || (content as string | unknown[]).length === 0
  return isWithout && calls === undefined && refusal === undefined && audio === undefined
}
