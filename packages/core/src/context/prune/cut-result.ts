/** The two ways in which a tool result becomes shorter. Whose result it is, and whether it was an error, stays in both. */
import { contentUnits } from "../../format/tokens.ts"
import type { ContentBlock, Message, TextBlock } from "../../format/messages.ts"
import { isOpaque } from "../../format/opaque.ts"

export const CLEARED_TEXT = "[Old tool result content cleared]"

export function clearResult<M extends Message>(message: M): M {
  return { ...message, content: [{ type: "text", text: CLEARED_TEXT }] }
}

/** Whether clearing makes it shorter; what is as short as the notice stays. */
export function isClearable(message: Message): boolean {
  return contentUnits(message.content) > CLEARED_TEXT.length
}

/** Units of the text that trimming may take from. */
export function trimmableUnits(message: Message): number {
  let units = 0
  for (const block of message.content ?? []) if (isPlainText(block)) units += block.text.length
  return units
}

/**
 * The text of all blocks, taken as one, keeps its first and last units around a notice that says how much is gone. Images, blocks
 * that a provider checks by a signature and blocks of unknown types stay whole, where they are.
 */
export function trimResult<M extends Message>(message: M, o: { readonly head: number; readonly tail: number }): M {
  const total = trimmableUnits(message)
  const tailStart = total - o.tail
  let offset = 0
  const pieces = (message.content ?? []).map((block): Piece | ContentBlock => {
    if (!isPlainText(block)) return block
    const { text } = block
    const start = offset
    offset += text.length
    return { block, head: textBefore(text, o.head - start), tail: textAfter(text, tailStart - start) }
  })
  let kept = 0
  for (const piece of pieces) if (isPiece(piece)) kept += piece.head.length + piece.tail.length
  let notice = `\n[... ${total - kept} of ${total} characters cut ...]\n`
  const content = pieces.flatMap((piece): readonly ContentBlock[] => {
    if (!isPiece(piece)) return [piece]
    const { block, head, tail } = piece
    if (head.length + tail.length === block.text.length) return [block]
    const text = head + notice + tail
    notice = ""
    return text === "" ? [] : [{ ...block, text }]
  })
  return { ...message, content }
}

interface Piece {
  readonly block: TextBlock
  readonly head: string
  readonly tail: string
}

function isPiece(piece: Piece | ContentBlock): piece is Piece {
  return "block" in piece && "head" in piece
}

function isPlainText(block: ContentBlock): block is TextBlock {
  return block.type === "text" && typeof (block as TextBlock).text === "string" && !isOpaque(block)
}

function textBefore(text: string, units: number): string {
  const end = Math.min(Math.max(units, 0), text.length)
  return text.slice(0, partsPair(text, end) ? end - 1 : end)
}

function textAfter(text: string, units: number): string {
  const start = Math.min(Math.max(units, 0), text.length)
  return text.slice(partsPair(text, start) ? start + 1 : start)
}

/** Whether the place lies between the halves of a surrogate pair. */
function partsPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at - 1)
  const low = text.charCodeAt(at)
  return high >= 0xd800 && high < 0xdc00 && low >= 0xdc00 && low < 0xe000
}
