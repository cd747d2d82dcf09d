/**
 * Splits a conversation that does not fit the summarizer's window into chunks, one for each request. A chunk is the text of a group of
 * rounds (user messages, the answer, the results of its calls), so that no call is separated from its result, unless a single round is
 * too long.
 */
import type { ContextMessage } from "../../context/types.ts"
import { validCuts } from "../plan/cut-point.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { serializeConversation, tokensOfText } from "./serialize.ts"

/** Messages that are summarized in one request. */
export type MessageGroup = readonly ContextMessage[]

/** The text of one request. `group` is missing for a part of a single message, or of a text that was not made of messages. */
export interface Chunk {
  readonly conversation: string
  readonly group?: MessageGroup
}

/** UTF-16 units. If a shorter chunk is too long for a request, the cause is not the conversation. */
export const SHORTEST_CHUNK = 1_000

/** Splits messages into rounds, in order. A round ends after an assistant message and the results of all its calls. */
export function roundsOf(messages: readonly ContextMessage[]): readonly MessageGroup[] {
  const valid = validCuts(messages.map(({ message }) => message))
  const rounds: ContextMessage[][] = []
  let answered = true
  for (const [place, item] of messages.entries()) {
    if (place === 0 || (answered && valid[place] === true)) {
      rounds.push([])
      answered = false
    }
    rounds.at(-1)?.push(item)
    answered ||= item.message.role === "assistant"
  }
  return rounds
}

/**
 * As few groups as possible, in order. A group has at most `budget` tokens as a summarizer gets it, unless it is a single round. Linear
 * in messages.
 */
export function planGroups(
  messages: readonly ContextMessage[],
  budget: number,
  count?: TokenCounter,
): readonly MessageGroup[] {
  const groups: ContextMessage[][] = []
  let tokens = 0
  for (const round of roundsOf(messages)) {
    const more = tokensOfText(serializeConversation(round), count)
    const last = groups.at(-1)
    if (last !== undefined && tokens + more <= budget) {
      // A damaged log may have more messages in a round than a call takes arguments.
      for (const item of round) last.push(item)
      tokens += more
    } else {
      groups.push([...round])
      tokens = more
    }
  }
  return groups
}

/** Splits a group in two, between rounds if it has several. Undefined for a single message. */
export function halveGroup(group: MessageGroup): readonly [MessageGroup, MessageGroup] | undefined {
  if (group.length < 2) return undefined
  const rounds = roundsOf(group)
  const place = rounds.length > 1 ? rounds.slice(0, rounds.length >> 1).flat().length : group.length >> 1
  return [group.slice(0, place), group.slice(place)]
}

export function chunkOf(group: MessageGroup): Chunk {
  return { group, conversation: serializeConversation(group) }
}

/** Splits between rounds; a round with more tokens than the budget between messages, and then within a message. */
export function chunksWithin(messages: readonly ContextMessage[], budget: number, count: TokenCounter): Chunk[] {
  const chunks = planGroups(messages, budget, count).flatMap((group) => splitChunk(chunkOf(group), budget, count))
  const nonEmpty = chunks.filter(({ conversation }) => conversation !== "")
  return nonEmpty.length === 0 ? chunks.slice(0, 1) : nonEmpty
}

/** Splits a chunk into chunks within a budget, as far as it can be split. */
export function splitChunk(chunk: Chunk, budget: number, count: TokenCounter): Chunk[] {
  const halves = tokensOfText(chunk.conversation, count) > budget ? halvesOf(chunk) : undefined
  return halves === undefined ? [chunk] : halves.flatMap((half) => splitChunk(half, budget, count))
}

/** Splits a chunk in two; undefined if it is too short to be the reason that a request is too long. */
export function halvesOf({ group, conversation }: Chunk): readonly Chunk[] | undefined {
  if (conversation.length < SHORTEST_CHUNK) return undefined
  const halves = group === undefined ? undefined : halveGroup(group)
  if (halves !== undefined) return halves.map(chunkOf)
  const middle = conversation.length >> 1
  const end = /[\uDC00-\uDFFF]/.test(conversation.charAt(middle)) ? middle - 1 : middle
  return [{ conversation: conversation.slice(0, end) }, { conversation: conversation.slice(end) }]
}

/** Joins the summaries of all groups, each in a block of its own. Tags of the block in a summary are escaped, so that it cannot close it. */
export function joinGroups(summaries: readonly string[]): string {
  const escaped = summaries.map((summary) => summary.replace(/<(?=\s*(?:\/\s*)?context_summary\b)/gi, "&lt;"))
  return escaped.map((summary) => `<context_summary>\n${summary}\n</context_summary>`).join("\n\n")
}
