/** Splits a conversation that does not fit the summarizer's window into chunks, one for each request. */
import type { ContextMessage } from "../../context/types.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { halveGroup, planGroups } from "./groups.ts"
import type { MessageGroup } from "./groups.ts"
import { serializeConversation } from "./serialize.ts"

/** The text of one request. `group` is missing for a part of a single message, or of a text that was not made of messages. */
export interface Chunk {
  readonly conversation: string
  readonly group?: MessageGroup
}

/** UTF-16 units. If a shorter chunk is too long for a request, the cause is not the conversation. */
export const SHORTEST_CHUNK = 1_000

export function chunkOf(group: MessageGroup): Chunk {
  return { group, conversation: serializeConversation(group) }
}

/** Splits between rounds; a round with more tokens than the budget between messages, and then within a message. */
export function chunksWithin(messages: readonly ContextMessage[], budget: number, count: TokenCounter): Chunk[] {
  const chunks = planGroups(messages, budget, count).flatMap((group) => splitTo(chunkOf(group), budget, count))
  const nonEmpty = chunks.filter(({ conversation }) => conversation !== "")
  return nonEmpty.length === 0 ? chunks.slice(0, 1) : nonEmpty
}

export function textWithin(text: string, budget: number, count: TokenCounter): Chunk[] {
  return splitTo({ conversation: text }, budget, count)
}

/** Splits a chunk in two; undefined if it is too short to be the reason that a request is too long. */
export function halvesOf({ group, conversation }: Chunk): readonly Chunk[] | undefined {
  if (conversation.length < SHORTEST_CHUNK) return undefined
  const halves = group === undefined ? undefined : halveGroup(group)
  if (halves !== undefined) return halves.map(chunkOf)
  const middle = conversation.length >> 1
  const place = /[\uDC00-\uDFFF]/.test(conversation.charAt(middle)) ? middle - 1 : middle
  return [{ conversation: conversation.slice(0, place) }, { conversation: conversation.slice(place) }]
}

export function tokensOfText(text: string, count: TokenCounter): number {
  return count({ role: "user", content: [{ type: "text", text }] })
}

function splitTo(chunk: Chunk, budget: number, count: TokenCounter): Chunk[] {
  const halves = tokensOfText(chunk.conversation, count) > budget ? halvesOf(chunk) : undefined
  return halves === undefined ? [chunk] : halves.flatMap((half) => splitTo(half, budget, count))
}
