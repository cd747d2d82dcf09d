/**
 * Plans the cut of a compaction. A rule says what shall be kept; it gives way, cut by cut, until the compacted context reaches its aim. What
 * the model has not read and the question that it works on always stay. Pure and linear in messages.
 */
import type { AssistantMessage, Message } from "../../format/message.ts"
import { type CutPoint, findCutPoint, type KeepRule, startsTurn, turnStartOf, validCuts } from "./cut-point.ts"

export interface PlanOptions {
  readonly keep: KeepRule
  /** Tokens of the message at an index. */
  readonly tokensAt: (index: number) => number
  readonly mayBegin: (index: number) => boolean
  /** Tokens of what stays before the kept messages, without the summary. */
  readonly before: number
  /** Expected tokens of the summary. */
  readonly summary: number
  /** The most tokens that the compacted context shall have. Default: the rule alone decides. */
  readonly aim?: number | undefined
  /** The most tokens to keep, the protected messages aside. Default: any number. */
  readonly most?: number | undefined
  /** The most tokens of unread messages of users that are protected; the newest always is. Default: half of the room below the aim. */
  readonly pending?: number | undefined
}

export interface CutPlan {
  readonly cut: CutPoint
  /** Index of the question, if the cut is behind it: it follows the summary. */
  readonly question: number | undefined
  /** Expected tokens of the compacted context. */
  readonly tokens: number
  /** Those of them that are not the summary. */
  readonly rest: number
  /** Whether they are below the aim. */
  readonly reaches: boolean
}

/** The share of the room for messages that unread messages of users may take: more of them, the newest excepted, are summarized. */
const PENDING_SHARE = 0.5

/** Undefined: nothing can be cut. */
export function planCut(messages: readonly Message[], o: PlanOptions): CutPlan | undefined {
  const {
    keep,
    tokensAt,
    mayBegin,
    before,
    summary,
    aim = Number.POSITIVE_INFINITY,
    most = Number.POSITIVE_INFINITY,
  } = o
  const end = messages.length
  const suffix = new Float64Array(end + 1)
  /** Tokens of the system messages before an index, which stay. */
  const system = new Float64Array(end + 1)
  for (let index = end - 1; index >= 0; index--) suffix[index] = (suffix[index + 1] as number) + tokensAt(index)
  for (let index = 0; index < end; index++)
    system[index + 1] = (system[index] as number) + (messages[index]?.role === "system" ? tokensAt(index) : 0)
  const question = o.aim === undefined ? undefined : openQuestion(messages)
  const last = o.aim === undefined ? end : protectedFrom(messages, suffix, o.pending ?? PENDING_SHARE * (aim - before))
  const wanted = findCutPoint(messages, keep, { tokensAt, mayBegin })?.first ?? 0
  if (wanted === 0 && before + (suffix[0] as number) <= Math.min(aim, most)) return undefined
  const first = Math.min(wanted, last)

  const planAt = (index: number): CutPlan => {
    const isIncluded = question !== undefined && question < index
    const kept = (suffix[index] as number) + (isIncluded ? tokensAt(question) : 0)
    const rest = before + (system[index] as number) + kept
    const tokens = rest + summary
    return {
      cut: { first: index, turnStart: turnStartOf(messages, index) },
      question: isIncluded ? question : undefined,
      tokens,
      rest,
      reaches: tokens <= aim,
    }
  }
  // System messages stay, and the question follows the summary: before the first other message is nothing to summarize.
  const isNew = ({ role }: Message, index: number): boolean => role !== "system" && index !== question
  const least = messages.findIndex(isNew) + 1
  if (least === 0) return undefined
  const valid = validCuts(messages)
  const isValid = (index: number): boolean => valid[index] === true && (index === end || mayBegin(index))
  let plan: CutPlan | undefined
  for (let index = Math.max(first, least); index <= last; index++) {
    if (!isValid(index) || ((suffix[index] as number) > most && index < last)) continue
    plan = planAt(index)
    if (plan.reaches) return plan
  }
  // No cut is valid between what the rule keeps and the protected messages.
  for (let index = Math.min(first, last); plan === undefined && index >= least; index--)
    if (isValid(index)) plan = planAt(index)
  return plan
}

/** Index of the last message of the user if the model has not answered it finally; undefined: it waits for nothing. */
export function openQuestion(messages: readonly Message[]): number | undefined {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index] as Message
    if (startsTurn(message)) return index
    if (message.role === "assistant" && isFinal(message)) return undefined
  }
  return undefined
}

/** The words of an answer that broke off. */
const BROKEN: ReadonlySet<unknown> = new Set(["aborted", "error", "length", "max_tokens", "pause_turn"])

function isFinal({ content, stopReason }: AssistantMessage): boolean {
  return !hasCalls(content) && !BROKEN.has(stopReason)
}

export function hasCalls(content: Message["content"]): boolean {
  return content?.some(({ type }) => type === "toolCall") ?? false
}

/**
 * Index of the first message that the model has not read: its last answer if that has calls, whose results it has not read, or what follows
 * it. Messages of users there are protected as long as they take at most `room`.
 */
function protectedFrom(messages: readonly Message[], suffix: Float64Array, room: number): number {
  const answer = messages.findLastIndex(({ role }) => role === "assistant")
  if (hasCalls(messages[answer]?.content)) return answer
  let first = answer + 1
  while (first < messages.length - 1 && messages[first]?.role === "user" && (suffix[first] as number) > room) first++
  return first
}
