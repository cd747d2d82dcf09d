/** What every request must have, and whether a request that has only that can be sent: by the whole log, without the library's idea of it. */
import { type ContentBlock, estimateMessage, type ModelMessage } from "@sessions/core"
import { textsIn } from "./author.ts"
import { type Size, sizeOf } from "./provider.ts"
import { thumb } from "./tokenizers.ts"
import type { Model, World } from "./world.ts"

/** A message of the log that is not deleted. */
export interface Said {
  readonly n: number
  readonly message: ModelMessage
}

/** No message is cut below this number of tokens by the rule of thumb. */
export const LEAST = 64

/** The last question, and what the model has not read: the last answer if it has calls, and all results behind it. */
export function unreadOf(said: readonly Said[]): Said[] {
  const last = said.findLastIndex(({ message }) => message.role === "assistant")
  const unread = said.slice(last + 1).filter(({ message }) => message.role === "toolResult")
  const answer = said[last]
  if (answer?.message.content.some(({ type }) => type === "toolCall") === true) unread.unshift(answer)
  const question = said.findLast(({ message }) => message.role === "user")
  return question === undefined || unread.includes(question) ? unread : [question, ...unread]
}

/** In the place of an image are words that say what it was. */
const IMAGE: ContentBlock = { type: "text", text: "[Image left out: image/png, 20 KB]" }

/**
 * The smallest form of a message: its texts at {@link LEAST}, a word for each image, calls whole. Of a text either the head or the tail
 * is kept, since what a library keeps is between the two.
 */
function smallest(message: ModelMessage, end: "head" | "tail"): ModelMessage {
  const known = SMALLEST[end].get(message)
  if (known !== undefined) return known
  const content = message.content.map((block): ContentBlock => {
    if (block.type === "image") return IMAGE
    if (block.type === "toolCall") return block
    const text = block.type === "text" ? block.text : JSON.stringify(block)
    const units = thumb(text)
    if (units <= LEAST) return { type: "text", text }
    const length = Math.ceil((text.length * LEAST) / units)
    return { type: "text", text: end === "head" ? text.slice(0, length) : text.slice(-length) }
  })
  const small = { ...message, content } as ModelMessage
  SMALLEST[end].set(message, small)
  return small
}
const SMALLEST = { head: new WeakMap<ModelMessage, ModelMessage>(), tail: new WeakMap<ModelMessage, ModelMessage>() }

/** What a summary, and the lines that say what was left out, have at least. */
const FRAME: ModelMessage = {
  role: "user",
  content: [{ type: "text", text: "The summary of what was before. ".repeat(32) }],
}

/** The size of a request that has only the question and what is unread, at their smallest, and a summary. */
function smallestSize(said: readonly Said[], model: Model, overhead: number, world: World): Omit<Size, "images"> {
  let { tokens, bytes } = sizeOf(FRAME, model, world)
  for (const { message } of unreadOf(said)) {
    const whole = sizeOf(message, model, world)
    const head = sizeOf(smallest(message, "head"), model, world)
    const tail = sizeOf(smallest(message, "tail"), model, world)
    tokens += Math.min(whole.tokens, Math.max(head.tokens, tail.tokens))
    bytes += Math.min(whole.bytes, Math.max(head.bytes, tail.bytes))
  }
  return { tokens: tokens + model.overhead * overhead, bytes }
}

/** The same in units, by who counts them. */
export function smallestUnits(said: readonly Said[], unitsOf: (message: ModelMessage) => number): number {
  return unreadOf(said).reduce((units, { message }) => units + unitsOf(message), 0)
}

/** Of the smallest form of a message, by the rule of thumb, without images. */
export function unitsByThumb(message: ModelMessage): number {
  return Math.min(
    LEAST,
    textsIn(message).reduce((sum, text) => sum + thumb(text), 0),
  )
}

/** The same by the public estimate: no program knows more of a model that has only refused. */
export function unitsByEstimate({ content }: ModelMessage): number {
  const unitsOf = (wanted: (type: string) => boolean): number =>
    estimateMessage({
      role: "user",
      content: content
        .filter(({ type }) => wanted(type))
        .map((block): ContentBlock => (block.type === "image" ? IMAGE : block)),
    })
  return (
    unitsOf((type) => type === "toolCall") +
    Math.min(
      LEAST,
      unitsOf((type) => type !== "toolCall"),
    )
  )
}

/** Times another smallest form: a form is no smaller, however a library counts it. */
export const CLEARLY = 1.25

/** Whether a request can be sent: some form of it has less than 0.95 of what the model takes. */
export function isPossible(said: readonly Said[], model: Model, overhead: number, world: World): boolean {
  const { tokens, bytes } = smallestSize(said, model, overhead, world)
  return tokens < 0.95 * model.window && bytes < 0.95 * world.maxBytes
}
