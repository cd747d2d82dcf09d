/** Shortens one tool result, by trimming or by clearing its content. Its other fields stay. */
import type { ContentBlock, Message, TextBlock } from "../../format/message.ts"
import { isOpaque } from "../../format/text.ts"

export const CLEARED_TEXT = "[Old tool result content cleared]"

export function clearResult<M extends Message>(message: M): M {
  return { ...message, content: [{ type: "text", text: CLEARED_TEXT }] }
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
  const parts = (message.content ?? []).map((block) => {
    if (!isPlainText(block)) return { block, head: "", tail: "", cut: 0 }
    const { text } = block
    const start = offset
    offset += text.length
    const head = textBefore(text, o.head - start)
    const tail = textAfter(text, tailStart - start)
    return { block, head, tail, cut: text.length - head.length - tail.length }
  })
  let all = 0
  for (const { cut } of parts) all += cut
  let notice = `\n[... ${all} of ${total} characters cut ...]\n`
  const content = parts.flatMap(({ block, head, tail, cut }): readonly ContentBlock[] => {
    if (cut === 0) return [block]
    const text = head + notice + tail
    notice = ""
    return text === "" ? [] : [{ ...block, text }]
  })
  return { ...message, content }
}

function isPlainText(block: ContentBlock): block is TextBlock {
  return block.type === "text" && typeof block.text === "string" && !isOpaque(block)
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
