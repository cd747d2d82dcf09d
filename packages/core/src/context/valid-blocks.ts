/**
 * Mends blocks that providers do not accept, or leaves them out: a text without text, an image without data, a call without a name, two
 * calls with one id. Blocks of unknown types pass.
 */
import type { ContentBlock, ModelMessage, ToolCallBlock } from "../format/message.ts"
import { type Fields, isObject } from "../format/shape.ts"
import { isValidBlock } from "./sendable.ts"

/** A message of valid blocks. The same object if nothing had to be changed. */
export interface ValidMessage {
  readonly message: ModelMessage
  /** The changes, as the ends of sentences. */
  readonly changes: readonly string[]
}

/**
 * Leaves invalid blocks out, gives calls without an object of arguments one, and gives calls of one message different ids. `renamed`
 * receives each call with a new id, and its old id.
 */
export function validMessage(message: ModelMessage, renamed: Map<ContentBlock, string>): ValidMessage {
  const changes: string[] = []
  const mended = message.content.map((block) => withArguments(block, changes))
  const blocks = mended.filter((block) => isValidBlock(block, message.role))
  if (blocks.length < mended.length) {
    const types = new Set(mended.flatMap((block) => (isValidBlock(block, message.role) ? [] : [block.type])))
    changes.push(
      `${mended.length - blocks.length} block(s) that providers refuse are left out: ${[...types].join(", ")}`,
    )
  }
  const content = message.role === "assistant" ? withOwnIds(blocks, renamed, changes) : blocks
  return changes.length === 0 ? { message, changes } : { message: { ...message, content }, changes }
}

/** Other programs write arguments as JSON text, or null for none. */
function withArguments(block: ContentBlock, changes: string[]): ContentBlock {
  if (block.type !== "toolCall") return block
  const args: unknown = block.arguments
  if (typeof block.id !== "string" || isObject(args)) return block
  changes.push(`the arguments of the tool call ${JSON.stringify(block.id)} are not an object and were replaced by one`)
  return { ...block, arguments: typeof args === "string" ? parsedObject(args) : {} }
}

function parsedObject(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function withOwnIds(
  blocks: readonly ContentBlock[],
  renamed: Map<ContentBlock, string>,
  changes: string[],
): readonly ContentBlock[] {
  const calls = blocks.filter((block): block is ToolCallBlock => block.type === "toolCall")
  const taken = new Set(calls.map(({ id }) => id))
  if (taken.size === calls.length) return blocks
  /** How often each id occurred so far. */
  const counts = new Map<string, number>()
  return blocks.map((block) => {
    if (block.type !== "toolCall") return block
    const { id } = block
    let count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    if (count === 1) return block
    while (taken.has(`${id}_${count}`)) count++
    counts.set(id, count)
    const own = { ...block, id: `${id}_${count}` }
    taken.add(own.id)
    renamed.set(own, id)
    changes.push(`a second tool call with the id ${JSON.stringify(id)} has the id ${JSON.stringify(own.id)} here`)
    return own
  })
}
