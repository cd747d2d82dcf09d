/** Answers of many calls, and results with images, as receivers take them that have limits on both. */
import type { ContentBlock, ContextMessage, ModelMessage, ToolCallBlock } from "@sessions/core"
import { addAll } from "./add-all.ts"
import type { Lost } from "./lost.ts"

type Item = ContextMessage<ModelMessage>

/** An answer of more calls than the receiver takes as several, each before the results of its calls. */
export function withinLimit(
  messages: readonly Item[],
  { maxCalls, receiver }: { readonly maxCalls: number; readonly receiver: string },
  lost: Lost,
): readonly Item[] {
  if (!messages.some(({ message }) => message.content.length > maxCalls)) return messages
  const list: Item[] = []
  /** Of an answer in several parts, which have them already. */
  let results = 0
  for (const [i, item] of messages.entries()) {
    if (results-- > 0) continue
    const { message, entryId } = item
    const calls = message.content.filter(({ type }) => type === "toolCall")
    results = calls.length > maxCalls ? calls.length : 0
    if (results === 0) {
      list.push(item)
      continue
    }
    lost.add("repaired", entryId, 1, `${receiver} takes ${maxCalls} calls in an answer; the others follow in another`)
    addAll(list, parts(item, calls, messages.slice(i + 1, i + 1 + results), maxCalls))
  }
  return list
}

function parts(item: Item, calls: readonly ContentBlock[], results: readonly Item[], size: number): readonly Item[] {
  const others = item.message.content.filter(({ type }) => type !== "toolCall")
  return Array.from({ length: Math.ceil(calls.length / size) }, (_, n) => {
    const some = calls.slice(n * size, (n + 1) * size)
    const ids = new Set(some.map((call) => (call as ToolCallBlock).id))
    const message = { ...item.message, content: n === 0 ? [...others, ...some] : some } as ModelMessage
    return [{ ...item, message }, ...results.filter((one) => ids.has(String(one.message["toolCallId"])))]
  }).flat()
}

/** The images of results of which `types` does not have the type in a message of the user, behind the results of the answer. */
export function imagesBehind(messages: readonly Item[], types: readonly string[], lost: Lost): readonly Item[] {
  const isMoved = (block: ContentBlock) => block.type === "image" && !types.includes(block.mimeType)
  if (!messages.some(({ message }) => message.role === "toolResult" && message.content.some(isMoved))) return messages
  const list: Item[] = []
  let images: ContentBlock[] = []
  let last: Item | undefined
  const flush = () => {
    if (images.length > 0 && last !== undefined) list.push({ ...last, message: { role: "user", content: images } })
    images = []
  }
  for (const item of messages) {
    const { message, entryId } = item
    const moved = message.role === "toolResult" ? message.content.filter(isMoved) : []
    if (message.role !== "toolResult") flush()
    last = item
    if (moved.length === 0) {
      list.push(item)
      continue
    }
    lost.add("images_moved", entryId, moved.length)
    const text = `Images of the result of the tool call ${String(message["toolCallId"])}:`
    addAll(images, [{ type: "text", text }, ...moved])
    const content = message.content.filter((block) => !isMoved(block))
    list.push({ ...item, message: { ...message, content } })
  }
  flush()
  return list
}
