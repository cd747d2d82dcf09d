/**
 * Estimates tokens without a tokenizer: four UTF-16 units per token, the providers' rule of thumb for English and code, and a fixed count
 * per image, which is the cost of a large image with current vision models.
 */
import { cloneJson } from "./clone.ts"
import { SessionError } from "./errors.ts"
import type { ContentBlock, Message } from "./message.ts"
import { toJson } from "./stored-text.ts"

const UNITS_PER_TOKEN = 4
const TOKENS_PER_IMAGE = 1_200

/** Returns the tokens of one message, a copy: a finite number from 0. */
export type TokenCounter = (message: Message) => number

/** Wraps a caller's counter: it gets copies, and a result that is not a finite number from 0 throws `invalid`. */
export function checkedCounter(count: TokenCounter): TokenCounter {
  return (message) => {
    const tokens = count(cloneJson(message))
    if (typeof tokens === "number" && tokens >= 0 && tokens < Number.POSITIVE_INFINITY) return tokens
    const wrong = `countTokens must give a number of tokens from 0, at once, not ${Object.prototype.toString.call(tokens)} ${String(tokens)}.`
    throw new SessionError("invalid", wrong)
  }
}

export function estimateMessages(messages: readonly Message[], count: TokenCounter = estimateMessage): number {
  let tokens = 0
  for (const message of messages) tokens += count(message)
  return tokens
}

/** Counts text, thinking, names and arguments of tool calls, executed commands and their output, summaries, and images; nothing else. */
export function estimateMessage(message: Message): number {
  // `toModelMessages` makes the text of executions and summaries from these fields.
  const { command, code, output, summaryText } = message as Readonly<Record<string, unknown>>
  const others = lengthOf(command) + lengthOf(code) + lengthOf(output) + lengthOf(summaryText)
  return Math.ceil((contentUnits(message.content) + others) / UNITS_PER_TOKEN)
}

/** The size of a message's content in UTF-16 units. An image counts as the units of its tokens. */
export function contentUnits(content: readonly ContentBlock[] | undefined): number {
  let units = 0
  for (const block of content ?? [])
    units += block.type === "image" ? TOKENS_PER_IMAGE * UNITS_PER_TOKEN : unitsOf(block)
  return units
}

function unitsOf(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return lengthOf(block["text"])
    case "thinking":
      return lengthOf(block["thinking"])
    case "toolCall":
      return lengthOf(block["name"]) + toJson(block["arguments"]).length
    default:
      return 0
  }
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0
}
