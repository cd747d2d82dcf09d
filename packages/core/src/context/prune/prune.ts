/**
 * Shortens old tool results, so that a context needs compaction later. Only the context changes: the log keeps the results whole, and
 * the next context is made from the log again. Pure and linear.
 */
import { checkOptions, type OptionNames } from "../../storage/options.ts"
import { estimateMessage } from "../../format/tokens.ts"
import { SessionError } from "../../format/errors.ts"
import type { Message, ToolResultMessage } from "../../format/message.ts"
import type { Pruned, PruneSizes, Shortening } from "../shortening.ts"
import type { ContextMessage, PrunedResult } from "../types.ts"
import { type PruneOptions, pruneSettings, type PruneSettings } from "./settings.ts"
import { contentUnits } from "./sizes.ts"
import { stepCuts } from "./steps.ts"

const SIZES: OptionNames<PruneSizes> = { window: 1, otherTokens: 1, count: 1, known: 1, reportsFrom: 1 }

/**
 * Shortens results in steps: for a conversation that grows at its end, each context begins with all of the one before it, unless a step
 * was taken between them. `since` names the message of the step. Pruning a pruned context again changes nothing. The result is larger than
 * its window only if nothing is left to shorten.
 */
export function pruneMessages<M extends Message>(
  messages: readonly ContextMessage<M>[],
  o: PruneOptions | true = true,
  sizes: PruneSizes = {},
): Pruned<M> {
  const s = pruneSettings(o)
  checkOptions("pruneMessages, sizes", sizes, SIZES)
  const { window = needsWindow(s) ? undefined : 0, otherTokens = 0, count, known, reportsFrom } = sizes
  if (window === undefined) {
    const message = "Pruning by shares needs the `window`: the number of tokens that the model takes."
    throw new SessionError("invalid", message)
  }
  const cuts = stepCuts(
    messages.map(({ message }) => message),
    s,
    { window, otherTokens, count: count ?? estimateMessage, known, reportsFrom, isScaled: count === undefined },
  )
  if (cuts.size === 0) return { messages, pruned: [] }
  const pruned: PrunedResult[] = []
  const changed = messages.map((item, index) => {
    const cut = cuts.get(index)
    if (cut === undefined) return item
    const { message, how, step } = cut
    const { toolCallId } = message as unknown as ToolResultMessage
    const [chars, charsLeft] = [contentUnits(item.message.content), contentUnits(message.content)]
    const since = (messages[step] as ContextMessage<M>).entryId
    pruned.push({ entryId: item.entryId, toolCallId, how, chars, charsLeft, since })
    return { ...item, message }
  })
  return { messages: changed, pruned }
}

/** Shortens old tool results, in the contexts that are given it; `true`, the default, uses every default. Throws `invalid` for a wrong option. */
export function shorten(o: PruneOptions | true = true): Shortening {
  pruneSettings(o)
  const options = o === true ? true : { ...o }
  return { prune: (messages, sizes) => pruneMessages(messages, options, sizes) }
}

/** A share of 0 needs no window: every context reaches it. */
function needsWindow({ softTrimShare, hardClearShare }: PruneSettings): boolean {
  return (softTrimShare !== false && softTrimShare > 0) || (hardClearShare !== false && hardClearShare > 0)
}
