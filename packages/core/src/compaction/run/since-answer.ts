/** What was done since the last answer to get the next one, from the log: another process continues where this one has stopped. */
import { isAnswer } from "../../context/ruler.ts"
import type { Selection } from "../../context/select.ts"
import type { ContextMessage } from "../../context/types.ts"
import { estimateMessage, type TokenCounter } from "../../format/tokens.ts"
import { parentOf } from "../../log/path.ts"
import type { ReadableSession } from "../../session/live.ts"
import { hasCalls, openQuestion } from "../plan/plan-cut.ts"

export interface SinceAnswer {
  /** Summaries that were asked for since the last change of the model, deletion or edit. */
  readonly summaries: number
  /** Whether a message was added since the last of them. */
  readonly isNew: boolean
  /** Units of the smallest form that the current model has refused when nothing was left to do; infinite: of none. */
  readonly refused: number
}

export function sinceAnswer({ state }: ReadableSession, selection: Selection): SinceAnswer {
  const { log, leafId } = state
  const first = selection.entries.reduce((least, { seq }) => Math.min(least, seq), log.end)
  const model = selection.state.models["default"]?.model
  let summaries = 0
  let isNew = false
  let isSame = true
  let refused = Number.POSITIVE_INFINITY
  for (let seq = log.find(leafId ?? "") ?? -1; seq >= first; seq = parentOf(log, seq)) {
    const entry = log.at(seq)
    const type = entry?.type
    if (type === "message") {
      if (isAnswer(entry?.["message"])) break
      isNew ||= summaries === 0
    } else if (type === "model_change" || type === "tombstone" || type === "context_edit") isSame = false
    else if (type === "compaction" || (type === "context_step" && entry?.["step"] === "failed")) {
      if (isSame) summaries++
    } else if (type === "context_step" && entry?.["step"] === "end" && entry["model"] === model) {
      const { units } = entry
      if (typeof units === "number") refused = Math.min(refused, units)
    }
  }
  return { summaries, isNew, refused }
}

/** Units of a request without its summary. */
export function unitsBesideSummary(messages: readonly ContextMessage[], count: TokenCounter = estimateMessage): number {
  return messages.reduce((all, { kind, message }) => all + (kind === "compaction" ? 0 : count(message)), 0)
}

/**
 * Whether no summary can help: the smallest form of the context, the question and what the model has not read, is no smaller than one that was
 * refused.
 */
export function isHopeless(
  { refused }: SinceAnswer,
  messages: readonly ContextMessage[],
  count?: TokenCounter,
): boolean {
  if (refused === Number.POSITIVE_INFINITY) return false
  const own = messages.filter(({ kind }) => kind === "message")
  const plain = own.map(({ message }) => message)
  const question = openQuestion(plain)
  const answer = plain.findLastIndex(({ role }) => role === "assistant")
  const isUnread = (index: number): boolean =>
    index === answer ? hasCalls(plain[index]?.content) : index > answer && plain[index]?.role === "toolResult"
  const smallest = own.filter((_, index) => index === question || isUnread(index))
  return unitsBesideSummary(smallest, count) >= refused
}
