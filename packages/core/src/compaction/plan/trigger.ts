/** Decides whether a context is large enough to be compacted. */
import { checkCallOptions } from "../../format/options.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { parentOf } from "../../log/path.ts"
import type { Selection } from "../../context/select.ts"
import type { SelectedEntry } from "../../context/types.ts"
import type { Seq } from "../../storage/contract.ts"
import { COMPACTION_OPTIONS } from "../settings/layers.ts"
import { inWindow, resolveSettings, type SettingsInWindow } from "../settings/settings.ts"
import type { CompactionSettings } from "../types.ts"
import type { AssistantMessage } from "../../format/message.ts"
import { isObject } from "../../format/shape.ts"
import { usageCounts } from "../../format/usage.ts"

/**
 * Whether a context with this number of tokens should be compacted before the next turn, under these settings and for a model with this
 * window. Throws `invalid` for wrong settings.
 */
export function shouldCompact(
  contextTokens: number,
  contextWindow: number,
  settings: CompactionSettings = {},
): boolean {
  checkCallOptions("shouldCompact", settings, COMPACTION_OPTIONS)
  const inForce = inWindow(resolveSettings(settings), contextWindow)
  return inForce.enabled && isOver(inForce, contextTokens)
}

/** A reserve is violated only above the limit; a threshold is reached at the limit. */
export function isOver({ trigger, limit }: SettingsInWindow, contextTokens: number): boolean {
  return trigger.kind === "reserve" ? contextTokens > limit : contextTokens >= limit
}

/**
 * The newest entry of a selection with a token count of its provider, and that count: all messages up to the entry, and parts that no
 * entry shows, such as tools. Undefined if the context has changed before that entry since, by a compaction, an edit or a tombstone.
 * Reads nothing from the blob store.
 */
export function usageAnchor(
  log: EntryLog,
  selection: Selection,
): { readonly index: number; readonly tokens: number } | undefined {
  const { entries } = selection
  for (let index = entries.length - 1; index >= 0; index--) {
    const { entry, seq } = entries[index] as SelectedEntry
    const tokens = entry.type === "message" ? reportedTokens(entry["message"]) : undefined
    if (tokens !== undefined) return isStale(log, selection, seq) ? undefined : { index, tokens }
  }
  return undefined
}

/**
 * The provider's token count of the context up to and including an assistant message. Undefined for other messages, for failed or aborted
 * answers, and without a report.
 */
export function reportedTokens(message: unknown): number | undefined {
  const { role, stopReason, usage } = (isObject(message) ? message : {}) as Partial<AssistantMessage>
  if (role !== "assistant" || stopReason === "aborted" || stopReason === "error" || !isObject(usage)) return undefined
  const [, , , , total] = usageCounts(usage)
  return total > 0 ? total : undefined
}

function isStale(log: EntryLog, selection: Selection, anchor: Seq): boolean {
  if (selection.compaction !== undefined && selection.compaction > anchor) return true
  if (selection.entries.some(({ edit }) => edit !== undefined && edit.seq > anchor)) return true
  return log.deletedAfter(anchor).some((target) => isAncestor(log, target, anchor))
}

function isAncestor(log: EntryLog, target: Seq, of: Seq): boolean {
  let seq = of
  while (seq > target) seq = parentOf(log, seq)
  return seq === target
}
