/** Decides whether a session is due for automatic compaction. */
import { isOver, usageAnchor } from "../plan/trigger.ts"
import { inWindow } from "../settings/in-window.ts"
import { renderMessages } from "../../context/render.ts"
import type { Selection } from "../../context/select.ts"
import { selectAt, restoreSelected } from "../../session/read-path.ts"
import type { CompactableSession } from "../../session/live.ts"
import type { CompactionRun } from "./compact.ts"
import { failed } from "./failure.ts"
import { promptTokensOf, tokensInView, tokensOfRest, windowAt } from "./fitting.ts"

export async function isDue(live: CompactableSession, run: CompactionRun): Promise<boolean> {
  const { settings, signal } = run
  const selection = await selectAt(live, live.state.leafId, signal === undefined ? {} : { signal })
  if (messagesSinceLast(selection) < Math.max(1, settings.minMessages)) return false
  const window = windowAt(selection, settings)
  const { trigger } = inWindow(settings, window)
  // Otherwise the session would be due again after every compaction.
  if (trigger.kind === "reserve" && trigger.tokens >= window) {
    const why = `reserveTokens (${trigger.tokens}) is not below the window (${window}); use a smaller reserve, or a larger contextWindow`
    throw failed(live.id, why)
  }
  return isOver(trigger, await contextTokens(live, run, selection, window), window)
}

/**
 * The tokens that the provider last reported and an estimate of the messages after it; only their blobs are read. Without a report the
 * whole context is estimated, pruned if the settings prune; a report already counts what the model got.
 */
async function contextTokens(
  live: CompactableSession,
  { settings, signal }: CompactionRun,
  selection: Selection,
  window: number,
): Promise<number> {
  const o = signal === undefined ? {} : { signal }
  const anchor = usageAnchor(live.state.log, selection)
  const from = anchor === undefined ? 0 : anchor.index + 1
  const { entries } = await restoreSelected(live, selection.entries.slice(from), o)
  const { messages } = renderMessages(entries)
  if (anchor !== undefined) return anchor.tokens + tokensOfRest(messages, settings.countTokens)
  const otherTokens = await promptTokensOf(live, selection, settings, o)
  return otherTokens + tokensInView(messages, settings, { window, otherTokens })
}

/** The number of messages on the path after the compaction that the context begins with. */
function messagesSinceLast({ entries, compaction = -1 }: Selection): number {
  return entries.filter(({ seq, entry }) => seq > compaction && entry.type === "message").length
}
