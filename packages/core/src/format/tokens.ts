/**
 * Estimates tokens without a tokenizer, by what a message contains. The figures are fitted to the tokenizers o200k_base and cl100k_base of
 * OpenAI; `tokens.test.ts` has how far each kind of text may be off.
 */
import { cloneJson } from "./clone.ts"
import { SessionError } from "./errors.ts"
import type { ContentBlock, Message } from "./message.ts"
import { withoutMedia } from "./media.ts"
import { isObject } from "./shape.ts"
import { textOf } from "./stored-text.ts"

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

/**
 * The tokens of a message, rounded up: texts by their characters, calls with name and arguments, an image as 1,600, blocks of other types
 * as JSON. A file counts as its path, because that is what is sent of it.
 */
export function estimateMessage(message: Message): number {
  const { content = NO_BLOCKS } = message
  // `toModelMessages` makes the text of executions and summaries from these fields.
  let parts = 0
  for (let at = 0; at < TEXT_FIELDS.length; at++) parts += partsOfText(textOf(message[TEXT_FIELDS[at] as string]))
  for (let at = 0; at < content.length; at++) parts += partsOfBlock(content[at] as ContentBlock)
  return Math.ceil(parts / PARTS)
}

/** Loops over these by index: a first context in a process runs interpreted, where each step of an iterator is an allocation. */
const TEXT_FIELDS = ["command", "code", "output", "summaryText"]
const NO_BLOCKS: readonly ContentBlock[] = []

/** Texts are counted in these parts of a token. */
const PARTS = 16

function partsOfBlock(block: ContentBlock): number {
  const { type, native } = block
  // Data that the provider wants back beside the block: encrypted thoughts, items of its own.
  const own = isObject(native) ? partsOfValue(native["fields"]) : 0
  if (type === "text" && typeof block["text"] === "string") return own + partsOfText(block["text"])
  // Without a text, a provider has withheld the thoughts and gives them in another field.
  if (type === "thinking" && typeof block["thinking"] === "string" && block["thinking"] !== "")
    return own + partsOfText(block["thinking"])
  if (type === "toolCall") return own + partsOfText(textOf(block["name"])) + partsOfValue(block["arguments"])
  return partsOfValue(block)
}

/** A value as JSON, with the bytes of images and files by what they cost in place of their text. */
function partsOfValue(value: unknown): number {
  let tokens = 0
  const text = withoutMedia(value, ({ mimeType, units }) => (tokens += tokensOfData(mimeType, units)))
  return partsOfText(text) + tokens * PARTS
}

/**
 * The tokens of a large image with Anthropic, and a screenshot of 1920 x 1080 with Gemini; with OpenAI it is at most 1,445
 * (platform.claude.com/docs/en/build-with-claude/vision, ai.google.dev/gemini-api/docs/image-understanding,
 * developers.openai.com/api/docs/guides/images-vision, 2026-11).
 */
const TOKENS_PER_IMAGE = 1_600

/** A page has 1,500 to 3,000 tokens (platform.claude.com/docs/en/build-with-claude/pdf-support, 2026-11) and about 50 KB. */
const PDF_BYTES_PER_TOKEN = 20

/** Sound has 32 tokens a second, a film 300 (ai.google.dev/gemini-api/docs/tokens, 2026-11), at 16 and 250 KB a second. */
const BYTES_PER_TOKEN: Readonly<Record<string, number>> = { text: 4, audio: 500, video: 800 }

function tokensOfData(mimeType: string, base64Units: number): number {
  const kind = mimeType.slice(0, mimeType.indexOf("/"))
  if (kind === "image") return TOKENS_PER_IMAGE
  const perToken = Object.hasOwn(BYTES_PER_TOKEN, kind) ? (BYTES_PER_TOKEN[kind] as number) : PDF_BYTES_PER_TOKEN
  return Math.ceil((base64Units * 0.75) / perToken)
}

/**
 * The parts of each kind of byte behind each kind: a word has four letters a token, and another kind of letter, a digit or a sign often begins a
 * token. In UTF-8 a character beyond ASCII counts by its first byte: alphabets take about two characters a token; from U+2000 on are punctuation,
 * symbols and the scripts of East Asia, with one; what is beyond U+FFFF takes two tokens.
 */
const COSTS = [
  // lower, upper, digit, sign, space, line end, within a character, alphabets, from U+2000 on, beyond U+FFFF
  [4, 18, 15, 8, 4, 5, 0, 8, 16, 32], // behind a lower-case letter
  [8, 7, 15, 8, 4, 5, 0, 8, 16, 32], // behind an upper-case letter
  [14, 14, 6, 14, 4, 5, 0, 8, 16, 32], // behind a digit
  [4, 4, 15, 4, 4, 5, 0, 8, 16, 32], // behind a sign
  [4, 4, 15, 4, 1, 5, 0, 8, 16, 32], // behind a space
  [4, 4, 15, 8, 6, 2, 0, 8, 16, 32], // behind a line end
  [4, 4, 15, 8, 4, 5, 0, 8, 16, 32], // behind a character beyond ASCII
]

const LOWER = 0
const UPPER = 1
const DIGIT = 2
const SIGN = 3
const SPACE = 4
const LINE_END = 5
const WITHIN = 6
const ALPHABET = 7
const SYMBOL = 8
const BEYOND = 9

/** What the loop over the bytes of a text needs, made for the first text. */
interface Tables {
  /** The kind of each byte. */
  readonly kinds: Uint8Array
  /** {@link COSTS} in rows of 16. */
  readonly costs: Uint8Array
  readonly encoder: TextEncoder
  /** The bytes of a piece of a text. */
  readonly bytes: Uint8Array
}

let tables: Tables | undefined

function makeTables(): Tables {
  const kinds = new Uint8Array(256)
  for (let byte = 0; byte < 256; byte++) kinds[byte] = kindOf(byte)
  const costs = new Uint8Array(256)
  for (let before = LOWER; before <= BEYOND; before++)
    costs.set(COSTS[Math.min(before, WITHIN)] as number[], before << 4)
  return { kinds, costs, encoder: new TextEncoder(), bytes: new Uint8Array(16_384) }
}

function kindOf(byte: number): number {
  if (byte >= 128) return byte < 0xc0 ? WITHIN : byte < 0xe2 ? ALPHABET : byte < 0xf0 ? SYMBOL : BEYOND
  if (byte >= 97 && byte <= 122) return LOWER
  if (byte >= 65 && byte <= 90) return UPPER
  if (byte >= 48 && byte <= 57) return DIGIT
  if (byte === 32 || byte === 9) return SPACE
  return byte >= 10 && byte <= 13 ? LINE_END : SIGN
}

/** By bytes: a context is estimated each time it is made, and `charCodeAt` takes three times as long. */
function partsOfText(text: string): number {
  const { kinds, costs, encoder, bytes } = (tables ??= makeTables())
  let parts = 0
  let before = SPACE
  for (let rest = text; rest !== ""; ) {
    const { read, written } = encoder.encodeInto(rest, bytes)
    for (let at = 0; at < written; at++) {
      const kind = kinds[bytes[at] as number] as number
      parts += costs[(before << 4) | kind] as number
      before = kind
    }
    rest = rest.slice(read)
  }
  return parts
}
