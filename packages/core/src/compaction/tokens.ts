/**
 * Token estimates without a tokenizer: four UTF-16 units a token, the rule of thumb that providers give for English and code, and
 * a flat count for an image, which is what a large one costs with today's vision models.
 */
import type { ContentBlock, Message } from "../format/messages.ts"

export const UNITS_PER_TOKEN = 4
export const TOKENS_PER_IMAGE = 1_200

export function estimateMessages(messages: readonly Message[]): number {
  let tokens = 0
  for (const message of messages) tokens += estimateMessage(message)
  return tokens
}

/** Text, thinking, tool calls' names and arguments, executed commands with their output, summaries, images. Other blocks: 0. */
export function estimateMessage(message: Message): number {
  let units = 0
  let images = 0
  for (const block of message.content ?? []) {
    if (block.type === "image") images++
    else units += unitsOf(block)
  }
  for (const field of ["command", "code", "output", "summaryText"]) units += lengthOf(message[field])
  return Math.ceil(units / UNITS_PER_TOKEN) + images * TOKENS_PER_IMAGE
}

function unitsOf(block: ContentBlock): number {
  const { type, text, thinking, name, arguments: args } = block as Readonly<Record<string, unknown>>
  if (type === "text") return lengthOf(text)
  if (type === "thinking") return lengthOf(thinking)
  if (type === "toolCall") return lengthOf(name) + lengthOf(JSON.stringify(args))
  return 0
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0
}
