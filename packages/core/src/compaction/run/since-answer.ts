/** The attempts since the last answer to get the next one, from the log: another process continues where this one has stopped. */
import { isAnswer } from "../../context/ruler.ts"
import type { Selection } from "../../context/select.ts"
import type { ContextMessage } from "../../context/types.ts"
import { cutMessage, withoutImages } from "../../context/view/step-forms.ts"
import { isObject } from "../../format/shape.ts"
import { estimateMessage, type TokenCounter } from "../../format/tokens.ts"
import { parentOf } from "../../log/path.ts"
import type { ReadableSession } from "../../session/live-types.ts"
import type { Seq } from "../../storage/contract.ts"
import { protectedOf, SHORTEST_CUT } from "./room-steps.ts"

export interface SinceAnswer {
  /** Summaries that were asked for since the last change of the model, deletion or edit. */
  readonly summaries: number
  /** Whether a message was added since the last of them. */
  readonly isNew: boolean
  /** Units of the smallest form that the current model has refused when nothing was left to do; infinite: of none. */
  readonly refused: number
  /** The smallest cut since the last message, which begins the cuts anew. */
  readonly cut: number | undefined
}

/** `failedAt`: the end of the log when an automatic compaction failed in this process. */
export function sinceAnswer({ state }: ReadableSession, selection: Selection, failedAt: Seq = -1): SinceAnswer {
  const { log, leafId } = state
  const first = selection.entries.reduce((least, { seq }) => Math.min(least, seq), log.end)
  const model = selection.state.models["default"]?.model
  let summaries = 0
  let isNew = false
  let isSame = true
  let refused = Number.POSITIVE_INFINITY
  let cuts: readonly { readonly units: number; readonly upTo: unknown }[] = []
  const compactions = new Set<unknown>()
  let hasMessage = false
  /** Whether the entry may be behind the failed one. */
  let isBehind = true
  for (let seq = log.find(leafId ?? "") ?? -1; seq >= first; seq = parentOf(log, seq)) {
    const entry = log.at(seq)
    const type = entry?.type
    if (isBehind && seq < failedAt) {
      isBehind = false
      if (isSame) summaries++
    }
    if (type === "message") {
      if (isAnswer(entry?.["message"])) break
      isNew ||= summaries === 0
      // Without kept messages, cuts are up to the summary.
      if (!hasMessage && cuts[0]?.upTo !== entry?.id && !compactions.has(cuts[0]?.upTo)) cuts = []
      hasMessage = true
    } else if (type === "model_change" || type === "tombstone" || type === "context_edit") isSame = false
    else if (type === "compaction" || (type === "context_step" && entry?.["step"] === "failed")) {
      if (type === "compaction") {
        compactions.add(entry?.id)
        // It repeats the cuts of the question that it includes.
        const question = entry?.["question"]
        if (isObject(question)) cuts = cuts.filter(({ upTo }) => upTo !== question["id"])
      }
      if (isSame) summaries++
    } else if (type === "context_step" && entry?.["step"] === "end" && entry["model"] === model) {
      const { units } = entry
      if (typeof units === "number") refused = Math.min(refused, units)
    } else if (type === "context_step" && entry?.["step"] === "cut" && isSame && !hasMessage) {
      const { units, upTo } = entry
      if (typeof units === "number") cuts = [...cuts, { units, upTo }]
    }
  }
  const cut = cuts.length === 0 ? undefined : Math.min(...cuts.map(({ units }) => units))
  return { summaries, isNew, refused, cut }
}

/** Units of the smallest form of a context: the question and what the model has not read, with the shortest cuts and no images. */
export function smallestUnits(messages: readonly ContextMessage[], count: TokenCounter = estimateMessage): number {
  return protectedOf(messages).reduce(
    (all, { message }) => all + count(cutMessage(withoutImages(message), SHORTEST_CUT)),
    0,
  )
}

/** Whether no summary can help: the smallest form of the context is no smaller than one that was refused. */
export function isHopeless(
  { refused }: SinceAnswer,
  messages: readonly ContextMessage[],
  count?: TokenCounter,
): boolean {
  return refused !== Number.POSITIVE_INFINITY && smallestUnits(messages, count) >= refused
}
