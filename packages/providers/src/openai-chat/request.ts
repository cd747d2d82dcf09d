/** A context as `messages` of the Chat Completions API. */
import type {
  AssistantMessage,
  ContentBlock,
  ContextMessage,
  ImageBlock,
  ModelMessage,
  ToolCallBlock,
} from "@sessions/core"
import { CHAT_PART, chatMessageOf } from "@sessions/formats/messages/openai-chat"
import { dataUrlOf, type Fields, fieldsOf, textBlock } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { BEGINNING, Turns } from "../shared/order.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { assistantRecord, joinedTexts, type Receiver } from "./assistant.ts"
import { type ChatDialect, chatRules, type ChatRules } from "./rules.ts"
import type { ChatImage, ChatMessage, ChatRequest, ChatText } from "./types.ts"

export interface OpenAIChatOptions extends RequestOptions {
  /** The role of system messages. Default `"system"`, which all providers with this API take. */
  readonly systemRole?: "system" | "developer"
  /**
   * In what the receiver differs from OpenAI: a name, or rules of your own, such as `{ ...CHAT_DIALECTS.deepseek, provider: "my-server" }`. Default:
   * none of the differences; fields that the provider of the last answer gave go back to it.
   */
  readonly dialect?: ChatDialect | Partial<ChatRules>
  /**
   * Who receives the request, as `fromOpenAIChat` and `appendOpenAIChatStream` were told: the fields that only it knows go back to it. Default: the
   * provider of the dialect, or the one that gave the last answer. Name it if another provider takes over.
   */
  readonly provider?: string
  /** Of references that end, such as audio, those are sent that are valid at this time: milliseconds since 1970. Default: now. */
  readonly now?: number
}

type Item = ContextMessage<ModelMessage>

export function toOpenAIChat(context: Context, o: OpenAIChatOptions = {}): ProviderRequest<ChatRequest> {
  const rules = chatRules(o.dialect, o.provider)
  const prepared = prepare(context, o, rules)
  const { lost } = prepared
  const { prompt, messages: whole } = rules.systemFirst ? oneSystem(prepared) : prepared
  const messages = withinLimit(whole, rules, lost)
  const role = o.systemRole ?? "system"
  const turns = new Turns<ChatMessage>(rules, lost, {
    roleOf: (record) => record.role,
    user: (text) => ({ role: "user", content: text }),
    join: joinRecords,
  })
  const system: ChatMessage[] = prompt === undefined ? [] : [{ role, content: prompt }]
  const to: Receiver = {
    rules,
    provider: o.provider ?? rules.provider ?? lastProvider(messages),
    now: o.now ?? Date.now(),
    lost,
  }
  /** Images of the results that were just written: the messages of tools have texts only. */
  let images: (ChatText | ChatImage)[] = []
  let result: Item | undefined
  const add = (record: ChatMessage, item: Item) => {
    if (record.role !== "tool" && record.role !== "assistant" && result !== undefined && rules.answersResults) {
      lost.add("repaired", item.entryId, 1, `${rules.receiver} wants an answer behind results; "${ANSWER}" was added`)
      turns.add({ role: "assistant", content: ANSWER }, { ...result, message: { role: "assistant", content: [] } })
    }
    result = record.role === "tool" ? item : undefined
    turns.add(record, item)
  }
  const flush = () => {
    if (images.length > 0 && result !== undefined) add({ role: "user", content: images }, asUser(result))
    images = []
  }
  for (const item of messages) {
    const { message, entryId } = item
    if (message.role !== "toolResult") flush()
    else images.push(...imagesOf(message, entryId, lost))
    const record = recordOf(item, to)
    if (record !== undefined) add(record.role === "system" ? { ...record, role } : record, item)
  }
  flush()
  const list = [...system, ...turns.end()]
  // No receiver takes a request without messages.
  const sent: ChatMessage[] = list.length > 0 ? list : [{ role: "user", content: BEGINNING }]
  return { request: { messages: sent }, diagnostics: lost.diagnostics() }
}

/** What the assistant says where the receiver wants it to say something, and it has said nothing. */
const ANSWER = "(No answer was given.)"

function asUser(item: Item): ContextMessage<ModelMessage> {
  return { ...item, message: { role: "user", content: [] } }
}

function oneSystem(prepared: ReturnType<typeof prepare>): Pick<ReturnType<typeof prepare>, "prompt" | "messages"> {
  const { system, messages } = systemApart(prepared)
  return { prompt: systemText(system), messages }
}

/** An answer of more calls than the receiver takes as several, each before the results of its calls. */
function withinLimit(messages: readonly Item[], { maxCalls, receiver }: ChatRules, lost: Lost): readonly Item[] {
  if (!messages.some(({ message }) => message.content.length > maxCalls)) return messages
  const list: Item[] = []
  /** Of an answer in several parts, which have them already. */
  let results = 0
  for (const [i, item] of messages.entries()) {
    if (results-- > 0) continue
    const { message, entryId } = item
    const calls = message.content.filter(({ type }) => type === "toolCall")
    results = calls.length > maxCalls ? calls.length : 0
    if (results === 0) {
      list.push(item)
      continue
    }
    lost.add("repaired", entryId, 1, `${receiver} takes ${maxCalls} calls in an answer; the others follow in another`)
    list.push(...parts(item, calls, messages.slice(i + 1, i + 1 + results), maxCalls))
  }
  return list
}

function parts(item: Item, calls: readonly ContentBlock[], results: readonly Item[], size: number): readonly Item[] {
  const others = item.message.content.filter(({ type }) => type !== "toolCall")
  return Array.from({ length: Math.ceil(calls.length / size) }, (_, n) => {
    const some = calls.slice(n * size, (n + 1) * size)
    const ids = new Set(some.map((call) => (call as ToolCallBlock).id))
    const message = { ...item.message, content: n === 0 ? [...others, ...some] : some } as ModelMessage
    return [{ ...item, message }, ...results.filter((one) => ids.has(String(one.message["toolCallId"])))]
  }).flat()
}

function lastProvider(messages: readonly Item[]): string | undefined {
  const last = messages.findLast(({ message }) => message.role === "assistant")?.message as AssistantMessage | undefined
  return last?.provider
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

/** Undefined if nothing is left of it. The result of a tool may be empty. */
function recordOf(item: Item, to: Receiver): ChatMessage | undefined {
  const { message, entryId } = item
  if (message.role === "assistant") return assistantRecord(item as ContextMessage<AssistantMessage>, to)
  const isResult = message.role === "toolResult"
  const { rules, lost } = to
  const shown = isResult ? message.content.filter(({ type }) => type !== "image") : message.content
  const content = rules.imageAddresses ? shown : shown.map((block) => withoutAddress(block, entryId, to))
  const sent = { ...message, content } as ModelMessage
  const record = lost.mapped(entryId, (losses) => chatMessageOf(sent, losses))
  const written = {
    ...record,
    ...(isResult && rules.namesResults ? { name: message.toolName } : {}),
    ...(rules.joinsTexts ? { content: joinedTexts(record["content"]) } : {}),
  } as Fields
  const { length } = written["content"] as string | unknown[]
  return length === 0 && !isResult ? undefined : (written as unknown as ChatMessage)
}

/** An image that is an address, in a message that was imported, as a text that says so. */
function withoutAddress(block: ContentBlock, entryId: string, { rules, lost }: Receiver): ContentBlock {
  if (block.type !== CHAT_PART || fieldsOf(block["part"])["type"] !== "image_url") return block
  lost.add("images", entryId, 1, `${rules.receiver} takes no addresses of images`)
  return textBlock("[An image by its address that cannot be shown here.]")
}

/** Two messages of one role as one: all of both, in their order. */
function joinRecords(last: ChatMessage, next: ChatMessage): void {
  const a: Record<string, unknown> = last
  for (const [key, value] of Object.entries(next) as [string, unknown][]) {
    if (key === "role" || value === null || value === undefined) continue
    if (key === "content") a[key] = joinedContent(a[key], value)
    else if (typeof value === "string" && typeof a[key] === "string") a[key] = `${a[key]}\n\n${value}`
    else if (Array.isArray(value) && Array.isArray(a[key])) a[key] = [...(a[key] as unknown[]), ...(value as unknown[])]
    else a[key] = value
  }
}

function joinedContent(a: unknown, b: unknown): unknown {
  if ((a ?? "") === "") return b
  if (b === "") return a
  if (typeof a === "string" && typeof b === "string") return `${a}\n\n${b}`
  return [...partsOf(a), ...partsOf(b)]
}

function partsOf(content: unknown): readonly unknown[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : ((content ?? []) as readonly unknown[])
}
