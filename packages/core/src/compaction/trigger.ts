/** When it is time to compact. */
import type { EntryLog } from "../tree/entry-log.ts"
import { parentOf } from "../tree/path.ts"
import type { Selection } from "../context/select.ts"
import type { ContextMessage } from "../context/types.ts"
import type { Seq } from "../storage/contract.ts"
import { resolveSettings } from "./settings.ts"
import type { CompactionSettings, TriggerRule } from "./settings.ts"
import { estimateMessages, reportedTokens } from "./tokens.ts"
import type { TokenCounter } from "./tokens.ts"

/**
 * Whether a context of so many tokens is to be compacted before it goes on, under these settings and for a model with this window.
 * `invalid` for settings that cannot mean anything.
 */
export function shouldCompact(
  contextTokens: number,
  contextWindow: number,
  settings: CompactionSettings = {},
): boolean {
  const { enabled, trigger } = resolveSettings(settings)
  return enabled && isOver(trigger, contextTokens, contextWindow)
}

/** The reserve is passed only by more than fills the rest; the other two say where it is time, and there it is. */
export function isOver(trigger: TriggerRule, contextTokens: number, contextWindow: number): boolean {
  switch (trigger.kind) {
    case "reserve":
      return contextTokens > contextWindow - trigger.tokens
    case "tokens":
      return contextTokens >= trigger.tokens
    case "share":
      return contextTokens >= trigger.share * contextWindow
  }
}

/**
 * Tokens of a context: what the provider reported with the last assistant message that has a report, and an estimate of what came
 * after it. The report counts also what no entry shows, such as tools; it is out of date where the context has changed under it since:
 * by a compaction, an edit, or a tombstone on its path. Then, and where there is none, all is estimated.
 */
export function contextTokens(
  log: EntryLog,
  selection: Selection,
  messages: readonly ContextMessage[],
  count?: TokenCounter,
): number {
  const estimate = (from: number): number =>
    estimateMessages(
      messages.slice(from).map(({ message }) => message),
      count,
    )
  const places = new Map(selection.entries.map(({ seq, entry }) => [entry.id, seq]))
  for (let index = messages.length - 1; index >= 0; index--) {
    const { message, entryId, kind } = messages[index] as ContextMessage
    const reported = kind === "message" ? reportedTokens(message) : undefined
    if (reported === undefined) continue
    const seq = places.get(entryId)
    return seq === undefined || isStale(log, selection, seq) ? estimate(0) : reported + estimate(index + 1)
  }
  return estimate(0)
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
