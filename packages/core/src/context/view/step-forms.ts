/** Shortens one message of a context for a recorded step. Its other fields stay; a message that is short enough is returned as it is. Pure. */
import { isOpaque } from "../../format/text.ts"
import type { ContentBlock, Message } from "../../format/message.ts"
import { withoutMedia } from "../../format/media.ts"
import { estimateMessage } from "../../format/tokens.ts"
import { trimmableUnits, trimResult } from "../prune/cut-result.ts"

/** Results with a longer text keep this much of its beginning and its end, in UTF-16 units: half of what a summarizer reads of one. */
const LONG_RESULT = 2_000
const RESULT_END = 500

/** A result in the form that pruning gives it. */
export function shortenedResult<M extends Message>(message: M): M {
  if (trimmableUnits(message) <= LONG_RESULT) return message
  return trimResult(message, { head: RESULT_END, tail: RESULT_END })
}

/** Texts in the place of images and files, which say what was there. */
export function withoutImages<M extends Message>(message: M): M {
  let isChanged = false
  const content = message.content?.map((block): ContentBlock => {
    const text = textForMedia(block)
    if (text === undefined) return block
    isChanged = true
    return { type: "text", text }
  })
  return isChanged ? { ...message, content } : message
}

/** Undefined: the block has no data. */
function textForMedia(block: ContentBlock): string | undefined {
  const { type } = block
  if (type === "text" || type === "thinking" || type === "toolCall") return undefined
  const found: string[] = []
  withoutMedia(block, ({ mimeType, units }) => found.push(`${mimeType}, ${sizeText(Math.ceil(units * 0.75))}`))
  const first = found[0]
  if (first === undefined) return undefined
  const name = ["path", "filename", "name", "url"].map((key) => block[key]).find((value) => typeof value === "string")
  const more = found.length > 1 ? ` and ${found.length - 1} more` : ""
  const what = first.startsWith("image/") ? "Image" : "File"
  return `[${what} left out: ${first}${more}${name === undefined ? "" : `, ${name}`}]`
}

function sizeText(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${Math.ceil(bytes / 1_000)} KB`
}

/**
 * A message whose texts have at most this estimate: their middle gives way to a notice. Calls, thoughts and images stay, and so does what a
 * provider has signed; of blocks of other types only the type stays.
 */
export function cutMessage<M extends Message>(message: M, most: number): M {
  if (unitsOfTexts(message) <= most) return message
  const plain: M = { ...message, content: (message.content ?? []).map(withoutUnknown) }
  const total = trimmableUnits(plain)
  const keeping = (kept: number): M => trimResult(plain, { head: Math.ceil(kept / 2), tail: Math.floor(kept / 2) })
  if (unitsOfTexts(plain) <= most) return plain
  let least = 0
  // No text has fewer tokens than a sixteenth of its units.
  let over = Math.min(total, Math.ceil(most) * 16 + 1)
  while (over - least > 1) {
    const middle = (least + over) >> 1
    if (unitsOfTexts(keeping(middle)) <= most) least = middle
    else over = middle
  }
  const cut = keeping(least)
  return unitsOfTexts(cut) < unitsOfTexts(message) ? cut : message
}

/** The estimate of what {@link cutMessage} may shorten. Kept, since a log may have many steps, each of which asks for every message. */
export function unitsOfTexts(message: Message): number {
  let units = UNITS.get(message)
  if (units === undefined) {
    const { role, content = [] } = message
    units = role === "system" ? 0 : estimateMessage({ role: "user", content: content.filter(isCuttable) })
    UNITS.set(message, units)
  }
  return units
}

const UNITS = new WeakMap<Message, number>()

/** Blocks of unknown types are what another program or a provider has put in, such as the finds of its own search. */
function isCuttable(block: ContentBlock): boolean {
  return (block.type === "text" || !KEPT.has(block.type)) && !isOpaque(block)
}

const KEPT: ReadonlySet<string> = new Set(["text", "thinking", "toolCall", "image", "file"])

function withoutUnknown(block: ContentBlock): ContentBlock {
  if (KEPT.has(block.type) || !isCuttable(block)) return block
  const short: ContentBlock = { type: "text", text: `[${block.type} left out]` }
  const estimate = (one: ContentBlock): number => estimateMessage({ role: "user", content: [one] })
  return estimate(short) < estimate(block) ? short : block
}

/** The line in the place of messages that are left out. */
export function leftOutText(messages: number): string {
  const what = messages === 1 ? "One message was" : `${messages} messages were`
  return `[${what} left out here: the model does not take a longer conversation.]`
}
