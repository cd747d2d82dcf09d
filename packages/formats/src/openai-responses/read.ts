/**
 * Messages of ours from items. What the assistant says at once is one message: its reasoning, then a text, then calls. If parallel calls were
 * messages of their own, a repaired context would have each result before the next call.
 */
import type { ContentBlock } from "@sessions/core"
import type { RecordMessages } from "../base/list-format.ts"
import { type Fields, isObject } from "../base/values.ts"
import { messageOfItem, thinkingOf } from "../codex/items.ts"

/** `itemOf`: the item of the Responses API that a record is. */
export function* recordsOfItems(
  records: readonly unknown[],
  itemOf: (record: Fields) => Fields = (record) => record,
): Generator<RecordMessages, void, undefined> {
  const toolNames = new Map<string, string>()
  let turn = new AssistantTurn()
  for (const record of records) {
    const item = isObject(record) ? itemOf(record) : undefined
    const message = item && messageOf(item, toolNames)
    const blocks = item?.["type"] === "reasoning" ? [{ ...thinkingOf(item) }] : (message?.["content"] as ContentBlock[])
    if (item?.["type"] === "reasoning" || message?.["role"] === "assistant") {
      if (!turn.takes(blocks)) {
        yield* turn.end()
        turn = new AssistantTurn()
      }
      turn.add(record, blocks)
      continue
    }
    yield* turn.end()
    turn = new AssistantTurn()
    if (message !== undefined) yield { records: [record], messages: [message] }
    else if (typeof item?.["type"] === "string") yield { records: [record], messages: [] }
    else yield { records: [record], messages: [], problem: "is no item with a type, and no message with a role" }
  }
  yield* turn.end()
}

class AssistantTurn {
  readonly #records: unknown[] = []
  readonly #content: ContentBlock[] = []

  /** Only calls follow a text or a call. */
  takes(blocks: readonly ContentBlock[]): boolean {
    return this.#content.every(isThinking) || (blocks.length > 0 && blocks.every(({ type }) => type === "toolCall"))
  }

  add(record: unknown, blocks: readonly ContentBlock[]): void {
    this.#records.push(record)
    this.#content.push(...blocks)
  }

  /** Reasoning that nothing follows is no message. */
  *end(): Generator<RecordMessages, void, undefined> {
    if (this.#records.length === 0) return
    const isMessage = this.#content.length === 0 || !this.#content.every(isThinking)
    const message = { role: "assistant", provider: PROVIDER, content: this.#content }
    yield { records: this.#records, messages: isMessage ? [message] : [] }
  }
}

function isThinking({ type }: ContentBlock): boolean {
  return type === "thinking"
}

/** Encrypted reasoning goes back to this provider only. */
export const PROVIDER = "openai"

function messageOf(item: Fields, toolNames: Map<string, string>): Fields | undefined {
  // The type of a message may be left out.
  const typed = item["type"] === undefined && item["role"] !== undefined ? { type: "message", ...item } : item
  const message = messageOfItem(typed, toolNames)
  if (message === undefined) return undefined
  for (const block of message["content"] as readonly ContentBlock[])
    if (block.type === "toolCall") toolNames.set(block.id, block.name)
  // What Codex itself puts into a conversation is nothing special here.
  const { synthetic: _, ...rest } = message
  return rest
}
