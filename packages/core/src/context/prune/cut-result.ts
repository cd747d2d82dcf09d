/** Shortens one tool result, by trimming or by clearing its content. Its other fields stay. */
import { contentUnits } from "../../format/tokens.ts"
import type { ContentBlock, Message, TextBlock } from "../../format/message.ts"
import { isOpaque } from "../../format/text.ts"

export const CLEARED_TEXT = "[Old tool result content cleared]"

export function clearResult<M extends Message>(message: M): M {
  return { ...message, content: [{ type: "text", text: CLEARED_TEXT }] }
}

/** Whether clearing makes the message shorter. */
export function isClearable(message: Message): boolean {
  return contentUnits(message.content) > CLEARED_TEXT.length
}

/** UTF-16 units of the text blocks that trimming may cut. */
export function trimmableUnits(message: Message): number {
  let units = 0
  for (const block of message.content ?? []) if (isPlainText(block)) units += block.text.length
  return units
}

/**
 * Cuts the middle out of the text of all blocks taken together and puts a notice with the number of cut units in its place. Images,
 * blocks with a provider's signature and blocks of unknown types stay unchanged.
 */
export function trimResult<M extends Message>(message: M, o: { readonly head: number; readonly tail: number }): M {
  const total = trimmableUnits(message)
  const tailStart = total - o.tail
  let offset = 0
  const blocks = (message.content ?? []).map((block): TrimmedText | ContentBlock => {
    if (!isPlainText(block)) return block
    const { text } = block
    const start = offset
    offset += text.length
    return { block, head: textBefore(text, o.head - start), tail: textAfter(text, tailStart - start) }
  })
  let kept = 0
  for (const block of blocks) if (isTrimmed(block)) kept += block.head.length + block.tail.length
  let notice = `\n[... ${total - kept} of ${total} characters cut ...]\n`
  const content = blocks.flatMap((trimmed): readonly ContentBlock[] => {
    if (!isTrimmed(trimmed)) return [trimmed]
    const { block, head, tail } = trimmed
    if (head.length + tail.length === block.text.length) return [block]
    const text = head + notice + tail
    notice = ""
    return text === "" ? [] : [{ ...block, text }]
  })
  return { ...message, content }
}

interface TrimmedText {
  readonly block: TextBlock
  readonly head: string
  readonly tail: string
}

function isTrimmed(block: TrimmedText | ContentBlock): block is TrimmedText {
  return "block" in block && "head" in block
}

function isPlainText(block: ContentBlock): block is TextBlock {
  return block.type === "text" && typeof (block as TextBlock).text === "string" && !isOpaque(block)
}

function textBefore(text: string, units: number): string {
  const end = Math.min(Math.max(units, 0), text.length)
  return text.slice(0, splitsPair(text, end) ? end - 1 : end)
}

function textAfter(text: string, units: number): string {
  const start = Math.min(Math.max(units, 0), text.length)
  return text.slice(splitsPair(text, start) ? start + 1 : start)
}

/** Whether an index is between the halves of a surrogate pair. */
function splitsPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at - 1)
  const low = text.charCodeAt(at)
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000
}
