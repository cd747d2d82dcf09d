/**
 * A long conversation in pieces that a summarizer can take. The pieces are made of rounds, so that none of them parts a call from its
 * result: what was said, the answer, and the results of its calls.
 */
import type { ContextMessage } from "../../context/types.ts"
import { validCuts } from "../plan/cut-point.ts"
import { serializeConversation } from "./serialize.ts"
import { estimateMessage } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"

/** Messages that are summarized in one request. */
export type MessageGroup = readonly ContextMessage[]

/** Joined in their order they are the messages again. A round ends behind an assistant message and the results of all its calls. */
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
 * As few groups as the order allows, none of which has more tokens than `budget` as a summarizer gets it, unless it is one round.
 * Linear in messages.
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

/** The halves of a group that was too long, at a round if it has several. Undefined for a single message. */
export function halveGroup(group: MessageGroup): readonly [MessageGroup, MessageGroup] | undefined {
  if (group.length < 2) return undefined
  const rounds = roundsOf(group)
  const place = rounds.length > 1 ? rounds.slice(0, rounds.length >> 1).flat().length : group.length >> 1
  return [group.slice(0, place), group.slice(place)]
}

/** One summary of all groups: each stands in its block, in their order. */
export function joinGroups(summaries: readonly string[]): string {
  return summaries.map((summary) => `<context_summary>\n${withoutTag(summary)}\n</context_summary>`).join("\n\n")
}

/** A summary cannot close its own block. */
function withoutTag(summary: string): string {
  return summary.replace(/<(?=\s*(?:\/\s*)?context_summary\b)/gi, "&lt;")
}

/** Results count as they are cut for the summarizer, not as they are. */
function tokensAsText(messages: MessageGroup, count: TokenCounter): number {
  return count({ role: "user", content: [{ type: "text", text: serializeConversation(messages) }] })
}
