/**
 * Splits a long conversation into groups that fit a summarizer. Groups consist of rounds (user messages, the answer, the results of its
 * calls), so that no call is separated from its result.
 */
import type { ContextMessage } from "../../context/types.ts"
import { validCuts } from "../plan/cut-point.ts"
import { serializeConversation } from "./serialize.ts"
import { estimateMessage } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"

/** Messages that are summarized in one request. */
export type MessageGroup = readonly ContextMessage[]

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
  count: TokenCounter = estimateMessage,
): readonly MessageGroup[] {
  const groups: ContextMessage[][] = []
  let tokens = 0
  for (const round of roundsOf(messages)) {
    const more = tokensAsText(round, count)
    const last = groups.at(-1)
    if (last !== undefined && tokens + more <= budget) {
      last.push(...round)
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

/** Joins the summaries of all groups, each in a block of its own. */
export function joinGroups(summaries: readonly string[]): string {
  return summaries.map((summary) => `<context_summary>\n${withoutTag(summary)}\n</context_summary>`).join("\n\n")
}

/** Escapes the tags of the block, so that a summary cannot close it. */
function withoutTag(summary: string): string {
  return summary.replace(/<(?=\s*(?:\/\s*)?context_summary\b)/gi, "&lt;")
}

/** Tokens as the summarizer gets the messages, with tool results cut. */
function tokensAsText(messages: MessageGroup, count: TokenCounter): number {
  return count({ role: "user", content: [{ type: "text", text: serializeConversation(messages) }] })
}
