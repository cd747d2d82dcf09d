/** The context of a session as its model gets it, and its size, for the decisions of compaction. */
import { pruneMessages } from "../../context/prune/prune.ts"
import { pruneSizes } from "../../context/prune/sent-sizes.ts"
import { renderMessages } from "../../context/render.ts"
import { measure, type Ruler } from "../../context/ruler.ts"
import type { Selection } from "../../context/select.ts"
import type { ContextMessage, SelectedEntry } from "../../context/types.ts"
import type { ReadableSession } from "../../session/live.ts"
import { restoreSelected, restoreState } from "../../session/read-path.ts"
import type { CallOptions } from "../../storage/contract.ts"
import { sendable } from "../plan/prepare.ts"
import type { SettingsInWindow } from "../settings/settings.ts"

export interface SentContext {
  /** With their blobs. */
  readonly entries: readonly SelectedEntry[]
  /** As they are sent. */
  readonly messages: readonly ContextMessage[]
  readonly ruler: Ruler
  /** The size at which the session is due: that of the settings, or the most that the model takes if that is less. */
  readonly due: number
}

/** Pruned if the settings prune. */
export async function sentContext(
  live: ReadableSession,
  selection: Selection,
  { prune, window, limit, countTokens: count, overheadTokens }: SettingsInWindow,
  o: CallOptions,
): Promise<SentContext> {
  const { log } = live.state
  const { entries } = await restoreSelected(live, selection.entries, o)
  const from = { ...selection, state: await restoreState(live, selection, o) }
  const whole = sendable(renderMessages(entries).messages)
  const sizes = pruneSizes(log, from, whole, { window, count, overheadTokens })
  const view = prune === false ? { messages: whole } : { whole, ...pruneMessages(whole, prune, sizes) }
  const ruler = measure(log, from, view, { count, overheadTokens })
  return { entries, messages: view.messages, ruler, due: Math.min(limit, ruler.limit(window)) }
}
