/** How the messages of a context are shown: pruned if that is asked for, then shortened as recorded steps say. Pure. */
import type { Message } from "../../format/message.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import type { Seq } from "../../storage/contract.ts"
import type { View } from "../compare.ts"
import type { Selection } from "../select.ts"
import type { PruneSizes, Shortening } from "../shortening.ts"
import type { ContextMessage, ShortenedMessage } from "../types.ts"
import { applySteps, placesOf, shortenedMessages, viewSteps } from "./recorded-steps.ts"

export interface ViewOptions {
  readonly shorten: Shortening | false
  readonly sizes: (whole: readonly ContextMessage[]) => PruneSizes
  /** The window in force: recorded steps of a smaller one are undone. Default: all hold. */
  readonly window?: number | undefined
}

export interface ShownView<M extends Message = Message> extends View {
  readonly whole: readonly ContextMessage<M>[]
  readonly messages: readonly ContextMessage<M>[]
  readonly shortened?: readonly ShortenedMessage[]
}

/** The view of messages of a selection; with `end` as it was before that entry. Steps of pruning do not depend on recorded ones. */
export function viewOf<M extends Message = Message>(
  log: EntryLog,
  selection: Pick<Selection, "entries" | "state">,
  { shorten, sizes, window }: ViewOptions,
): (whole: readonly ContextMessage<M>[], end?: Seq) => ShownView<M> {
  const steps = viewSteps(log, selection, window)
  const places = steps.length === 0 ? undefined : placesOf(selection.entries)
  return (whole, end = Number.POSITIVE_INFINITY) => {
    const pruned = shorten === false ? { messages: whole } : shorten.prune(whole, sizes(whole))
    if (places === undefined) return { whole, ...pruned }
    const earlier = steps.filter(({ seq }) => seq < end)
    const { messages, changes } = applySteps(pruned.messages, earlier, places)
    return { whole, ...pruned, messages, steps: changes, shortened: shortenedMessages(whole, changes) }
  }
}
