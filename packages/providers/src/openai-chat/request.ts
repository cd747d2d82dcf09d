/** A context as `messages` of the Chat Completions API. */
import type { AssistantMessage, ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { CHAT_PART, chatMessageOf } from "@sessions/formats/messages/openai-chat"
import { type Fields, fieldsOf, textBlock } from "@sessions/formats/messages/values"
import { checkCall, checkContext, type Checks, oneOf, REQUEST, TEXT, TIME } from "../shared/check.ts"
import { BEGINNING, Turns } from "../shared/order.ts"
import { prepare, systemApart, systemText } from "../shared/prepare.ts"
import { imagesBehind, withinLimit } from "../shared/results.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { assistantRecord, joinedTexts, type Receiver } from "./assistant.ts"
import { DIALECT } from "./rule-checks.ts"
import { type ChatDialect, chatRules, type ChatRules } from "./rules.ts"
import type { ChatMessage, ChatRequest } from "./types.ts"

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

const OPTIONS: Checks<OpenAIChatOptions> = {
  ...REQUEST,
  systemRole: oneOf("system", "developer"),
  dialect: DIALECT,
  provider: TEXT,
  now: TIME,
}

export function toOpenAIChat(context: Context, o: OpenAIChatOptions = {}): ProviderRequest<ChatRequest> {
  checkContext("toOpenAIChat", context)
  checkCall("toOpenAIChat", o, OPTIONS)
  const rules = chatRules(o.dialect, o.provider)
  const prepared = prepare(context, o, rules)
  const { lost } = prepared
  const { prompt, messages: whole } = rules.systemFirst ? oneSystem(prepared) : prepared
  // The messages of tools have texts only.
  const messages = imagesBehind(withinLimit(whole, rules, lost), [], lost)
  const role = o.systemRole ?? "system"
  const turns = new Turns<ChatMessage>(rules, lost, {
    roleOf: (record) => record.role,
    user: (content) => ({ role: "user", content }),
    answer: (content) => ({ role: "assistant", content }),
    join: joinRecords,
  })
  const system: ChatMessage[] = prompt === undefined ? [] : [{ role, content: prompt }]
  const to: Receiver = {
    rules,
    provider: o.provider ?? rules.provider ?? lastProvider(messages),
    now: o.now ?? Date.now(),
    lost,
  }
  for (const item of messages) {
    const record = recordOf(item, to)
    if (record !== undefined) turns.add(record.role === "system" ? { ...record, role } : record, item)
  }
  const list = [...system, ...turns.end()]
  // No receiver takes a request without messages.
  const sent: ChatMessage[] = list.length > 0 ? list : [{ role: "user", content: BEGINNING }]
  return { request: { messages: sent }, diagnostics: lost.diagnostics() }
}

function oneSystem(prepared: ReturnType<typeof prepare>): Pick<ReturnType<typeof prepare>, "prompt" | "messages"> {
  const { system, messages } = systemApart(prepared)
  return { prompt: systemText(system), messages }
}

function lastProvider(messages: readonly Item[]): string | undefined {
  const last = messages.findLast(({ message }) => message.role === "assistant")?.message as AssistantMessage | undefined
  return last?.provider
}

/** Undefined if nothing is left of it. The result of a tool may be empty. */
function recordOf(item: Item, to: Receiver): ChatMessage | undefined {
  const { message, entryId } = item
  if (message.role === "assistant") return assistantRecord(item as ContextMessage<AssistantMessage>, to)
  const isResult = message.role === "toolResult"
  const { rules, lost } = to
  const content = rules.imageAddresses
    ? message.content
    : message.content.map((block) => withoutAddress(block, entryId, to))
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
