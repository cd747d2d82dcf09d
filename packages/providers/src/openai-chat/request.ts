/** A context as `messages` of the Chat Completions API. */
import type { ContentBlock, ContextMessage, ImageBlock, ModelMessage } from "@sessions/core"
import { chatMessageOf } from "@sessions/formats/messages/openai-chat"
import { dataUrlOf, type Fields, fieldsOf } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { nativeOf } from "../shared/native.ts"
import { prepare } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { RULES } from "./rules.ts"
import { AUDIO } from "./answer.ts"
import type { ChatImage, ChatMessage, ChatRequest, ChatText } from "./types.ts"

export interface OpenAIChatOptions extends RequestOptions {
  /** The role of system messages. Default `"system"`, which all providers with this API take. */
  readonly systemRole?: "system" | "developer"
}

export function toOpenAIChat(context: Context, o: OpenAIChatOptions = {}): ProviderRequest<ChatRequest> {
  const { prompt, messages, lost } = prepare(context, o, RULES)
  const role = o.systemRole ?? "system"
  const list: ChatMessage[] = prompt === undefined ? [] : [{ role, content: prompt }]
  /** Images of the results that were just written: the messages of tools have texts only. */
  let images: (ChatText | ChatImage)[] = []
  const flush = () => {
    if (images.length > 0) list.push({ role: "user", content: images })
    images = []
  }
  for (const item of messages) {
    const { message, entryId } = item
    if (message.role !== "toolResult") flush()
    else images.push(...imagesOf(message, entryId, lost))
    const record = recordOf(item, lost)
    if (record !== undefined) list.push(record.role === "system" ? { ...record, role } : record)
  }
  flush()
  return { request: { messages: list }, diagnostics: lost.diagnostics() }
}

function imagesOf(message: ModelMessage, entryId: string, lost: Lost): readonly (ChatText | ChatImage)[] {
  const found = message.content.filter((block): block is ImageBlock => block.type === "image")
  if (found.length === 0) return []
  lost.add("images_moved", entryId, found.length)
  const text = `Images of the result of the tool call ${String(message["toolCallId"])}:`
  return [
    { type: "text", text },
    ...found.map((block): ChatImage => ({ type: "image_url", image_url: { url: dataUrlOf(block) } })),
  ]
}

function recordOf({ message, entryId }: ContextMessage<ModelMessage>, lost: Lost): ChatMessage | undefined {
  const content = message.content.filter((block) => !isApart(block, message.role))
  const sent = { ...message, content } as ModelMessage
  const record = lost.mapped(entryId, (losses) => chatMessageOf(sent, losses)) as unknown as ChatMessage
  if (record.role !== "assistant") return isEmpty(record) ? undefined : record
  const [refusal, audio] = [message.content.find(isRefusal), message.content.find(({ type }) => type === AUDIO)]
  if (refusal !== undefined) record.refusal = String(refusal.text)
  if (audio !== undefined) record.audio = { id: String((audio as Fields)["id"]) }
  for (const block of content) {
    const native = nativeOf(block, "openai-chat")
    if (block.type !== "toolCall" || Object.keys(native).length === 0) continue
    const at = record.tool_calls?.findIndex(({ id }) => id === block.id) ?? -1
    const call = record.tool_calls?.[at]
    if (call === undefined) continue
    const of = native["type"] === "custom" ? { id: block.id, ...native } : { ...call, ...native }
    record.tool_calls?.splice(at, 1, of as typeof call)
  }
  return isEmpty(record) ? undefined : record
}

function isRefusal(block: ContentBlock): boolean {
  return block.type === "text" && fieldsOf(block)["refusal"] === true
}

/** Blocks that the message has in fields of their own, or that follow it. */
function isApart(block: ContentBlock, role: ModelMessage["role"]): boolean {
  if (role === "toolResult") return block.type === "image"
  return role === "assistant" && (isRefusal(block) || block.type === AUDIO)
}

/** A message of which nothing is left. The result of a tool may be empty. */
function isEmpty(record: ChatMessage): boolean {
  const { role, content } = record
  if (role === "tool") return false
  const isWithout = content === null || content === undefined || content.length === 0
  if (role !== "assistant") return isWithout
  return isWithout && !record.tool_calls && !record.refusal && !record.audio
}
