/** When it is time to compact. */
import type { EntryLog } from "../../log/entry-log.ts"
import { parentOf } from "../../log/path.ts"
import type { SelectedEntry, Selection } from "../../context/select.ts"
import type { Seq } from "../../storage/contract.ts"
import { inWindow, timeAt } from "../settings/in-window.ts"
import { resolveSettings } from "../settings/settings.ts"
import type { TriggerRule } from "../settings/settings.ts"
import type { CompactionSettings } from "../types.ts"
import { reportedTokens } from "../../format/tokens.ts"

/**
 * Whether a context of so many tokens is to be compacted before it goes on, under these settings and for a model with this window.
 * `invalid` for settings that cannot mean anything.
 */
export function shouldCompact(
  contextTokens: number,
  contextWindow: number,
  settings: CompactionSettings = {},
): boolean {
  const { enabled, trigger } = inWindow(resolveSettings(settings), contextWindow)
  return enabled && isOver(trigger, contextTokens, contextWindow)
}

/** The reserve is passed only by more than fills the rest; the other two say where it is time, and there it is. */
export function isOver(trigger: TriggerRule, contextTokens: number, contextWindow: number): boolean {
  const time = timeAt(trigger, contextWindow)
  return trigger.kind === "reserve" ? contextTokens > time : contextTokens >= time
}

/**
 * The newest entry of a selection with a report of its provider that still holds, and what it reported: of all up to that entry, and
 * of what no entry shows, such as tools. A report is out of date where the context has changed under it since: by a compaction, an
 * edit, or a tombstone on its path. Nothing needs to be read from the blob store for it.
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
