/** What one request is about, where all of it does not fit the summarizer's window. */
import type { ContextMessage } from "../../context/types.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { halveGroup, planGroups } from "./groups.ts"
import type { MessageGroup } from "./groups.ts"
import { serializeConversation } from "./serialize.ts"

/** A single message that was too long, and what never was messages, is left as a part of its text. */
export interface Chunk {
  readonly conversation: string
  readonly group?: MessageGroup
}

/** UTF-16 units. Shorter than this it is not the conversation that is too long. */
export const SHORTEST_CHUNK = 1_000

export function chunkOf(group: MessageGroup): Chunk {
  return { group, conversation: serializeConversation(group) }
}

/** Cut between rounds; a round that alone has more tokens than the budget, between messages, and then within one. */
export function chunksWithin(messages: readonly ContextMessage[], budget: number, count: TokenCounter): Chunk[] {
  const pieces = planGroups(messages, budget, count).flatMap((group) => splitTo(chunkOf(group), budget, count))
  const telling = pieces.filter(({ conversation }) => conversation !== "")
  return telling.length === 0 ? pieces.slice(0, 1) : telling
}

export function textWithin(text: string, budget: number, count: TokenCounter): Chunk[] {
  return splitTo({ conversation: text }, budget, count)
}

/** The two of which it is made; undefined where it is not worth it any more. */
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

function splitTo(piece: Chunk, budget: number, count: TokenCounter): Chunk[] {
  const halves = tokensOfText(piece.conversation, count) > budget ? halvesOf(piece) : undefined
  return halves === undefined ? [piece] : halves.flatMap((half) => splitTo(half, budget, count))
}
