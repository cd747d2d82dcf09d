/**
 * The steps that every request begins with: calls that did not arrive completely go, calls and results are paired, their ids and names and the images
 * are those that the receiver takes, the system prompt is found.
 */
import type {
  ContentBlock,
  ContextMessage,
  ImageBlock,
  ModelMessage,
  SystemMessage,
  ToolCallBlock,
} from "@sessions/core"
import { repairMessages } from "@sessions/core/context"
import { Lost } from "./lost.ts"
import { PARTIAL_CALL } from "./answer.ts"
import { CallIds, sentName } from "./call-names.ts"
import { type FittedImage, fittedImages } from "./media.ts"
import type { Rules } from "./rules.ts"
import { wellFormed } from "./well-formed.ts"
import type { Context, RequestOptions } from "./types.ts"

export interface Prepared {
  /** The system prompt of the context or the program; undefined if there is none. */
  readonly prompt: string | undefined
  /** Each call has one result, behind its message, with the call's id and name. */
  readonly messages: readonly Item[]
  readonly lost: Lost
}

export function prepare(context: Context, { system }: RequestOptions, rules: Rules): Prepared {
  const lost = new Lost()
  const whole = context.messages.map((item) => withoutHalves(item, lost))
  const { messages, diagnostics } = repairMessages(whole, "synthesize")
  for (const { entryId } of diagnostics) lost.add("repaired", entryId ?? "")
  const prompt = wellFormed(context.systemPromptOverride ?? system)
  // Behind the repair, which would leave out a message of which nothing is left: the next request still shows that there was one.
  const sound = messages.map((item) => withSoundResult(withoutPartialCalls(item, lost)))
  return {
    // Anthropic refuses a system prompt of white space.
    prompt: prompt?.trim() === "" ? undefined : prompt,
    messages: withCalls(withImages(sound, rules, lost), rules, lost),
    lost,
  }
}

type Item = ContextMessage<ModelMessage>

function withImages(items: readonly Item[], rules: Rules, lost: Lost): readonly Item[] {
  const given: ImageBlock[] = []
  for (const { message } of items) for (const block of message.content) if (isImage(block)) given.push(block)
  if (given.length === 0) return items
  const fitted = fittedImages(given, rules).values()
  return items.map((item) => {
    if (!item.message.content.some(isImage)) return item
    const content = item.message.content.map((one): ContentBlock => {
      if (!isImage(one)) return one
      const { block, refused } = fitted.next().value as FittedImage
      if (refused !== undefined) lost.add("images", item.entryId, 1, refused)
      return block
    })
    return { ...item, message: { ...item.message, content } }
  })
}

const isImage = (block: ContentBlock): block is ImageBlock => block.type === "image"

function withCalls(items: readonly Item[], { callId, callName, receiver }: Rules, lost: Lost): readonly Item[] {
  const ids = new CallIds(callId)
  /** By the id in the log, that of the last call with it. */
  const names = new Map<string, string>()
  const sent = (call: ToolCallBlock, entryId: string): ToolCallBlock => {
    const [id, name] = [ids.ofCall(call.id), sentName(call.name, callName)]
    names.set(call.id, name)
    if (id !== call.id) lost.add("ids", entryId, 1, `${receiver} takes ${callId.says}`)
    if (name !== call.name) lost.add("names", entryId, 1, `${receiver} takes ${callName.says}`)
    return id === call.id && name === call.name ? call : { ...call, id, name }
  }
  return items.map((item) => {
    const { message, entryId } = item
    if (message.role === "assistant") {
      let content: ContentBlock[] | undefined
      for (const [i, block] of message.content.entries()) {
        const one = block.type === "toolCall" ? sent(block, entryId) : block
        if (one !== block) (content ??= [...message.content])[i] = one
      }
      return content === undefined ? item : { ...item, message: { ...message, content } }
    }
    if (message.role !== "toolResult") return item
    const toolCallId = ids.ofResult(message.toolCallId)
    const toolName = names.get(message.toolCallId) ?? sentName(message.toolName ?? "", callName)
    if (toolCallId === message.toolCallId && toolName === message.toolName) return item
    return { ...item, message: { ...message, toolCallId, toolName } }
  })
}

/** What a failed result says of which nothing else is sent. */
export const FAILED = "The tool has failed without a message."

/** Anthropic refuses a failed result without content, and a text of white space beside other blocks. */
function withSoundResult(item: Item): Item {
  const { message } = item
  if (message.role !== "toolResult" || (message.content.length > 0 && !message.content.some(isBlank))) return item
  const shown = message.content.filter((block) => !isBlank(block))
  // A line break alone is what a tool has said.
  if (shown.length === 0 && !message.isError && message.content.length < 2) return item
  const text = message.isError
    ? FAILED
    : message.content.map((block) => (block.type === "text" ? block.text : "")).join("")
  const content = shown.length > 0 ? shown : [{ type: "text" as const, text }]
  return { ...item, message: { ...message, content } }
}

const isBlank = (block: ContentBlock) => block.type === "text" && block.text.trim() === ""

/** Half of a surrogate pair, as a text that was cut may end in: no API takes it. */
function withoutHalves(item: Item, lost: Lost): Item {
  const message = wellFormed(item.message)
  if (message === item.message) return item
  lost.add("surrogates", item.entryId)
  return { ...item, message }
}

function withoutPartialCalls(item: Item, lost: Lost): Item {
  const { message, entryId } = item
  if (!message.content.some(isPartial)) return item
  const content = message.content.filter((block) => !isPartial(block))
  lost.add("partial_calls", entryId, message.content.length - content.length)
  return { ...item, message: { ...message, content } }
}

const isPartial = ({ type }: ContentBlock) => type === PARTIAL_CALL

export interface Apart {
  /** The contents of the system messages, in their order. */
  readonly system: readonly ContentBlock[]
  readonly messages: readonly ContextMessage<Exclude<ModelMessage, SystemMessage>>[]
}

/** For providers that have the system prompt beside the messages. */
export function systemApart({ prompt, messages, lost }: Prepared): Apart {
  const system: ContentBlock[] = prompt === undefined ? [] : [{ type: "text", text: prompt }]
  const others: ContextMessage<Exclude<ModelMessage, SystemMessage>>[] = []
  for (const item of messages) {
    const { message, entryId } = item
    if (message.role !== "system") {
      others.push(item as ContextMessage<Exclude<ModelMessage, SystemMessage>>)
      continue
    }
    if (others.length > 0) lost.add("system_moved", entryId)
    for (const block of message.content) {
      if (block.type === "text") system.push({ type: "text", text: block.text })
      else lost.add(block.type === "image" ? "images" : "blocks", entryId)
    }
    lost.add("attachments", entryId, message.attachments?.length ?? 0)
  }
  return { system, messages: others }
}

export function systemText(system: readonly ContentBlock[]): string | undefined {
  return system.length === 0 ? undefined : system.map((block) => (block.type === "text" ? block.text : "")).join("\n\n")
}
