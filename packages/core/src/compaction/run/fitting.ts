/** The window of the current model, the tokens of a context in it, and why a compacted context still does not fit. */
import type { KeepRule } from "../plan/cut-point.ts"
import type { PreparedCompaction } from "../plan/prepare.ts"
import { resolveSettings, type ResolvedSettings } from "../settings/settings.ts"
import { estimateMessage, estimateMessages } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { windowOf } from "../settings/windows.ts"
import { promptTokens } from "../../context/assemble.ts"
import { toModelMessages } from "../../context/model-messages.ts"
import { pruneMessages } from "../../context/prune/prune.ts"
import type { PruneSizes } from "../../context/prune/prune.ts"
import { COMPACTION_ROLE } from "../../context/render.ts"
import { repairMessages } from "../../context/repair.ts"
import type { Selection } from "../../context/select.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { CallOptions } from "../../storage/contract.ts"
import { restoreState } from "../../session/read-path.ts"
import type { CompactableSession } from "../../session/live.ts"
import type { PruneOptions } from "../../context/prune/settings.ts"
import type { SettingsLayers } from "../settings/layers.ts"

/** The `contextWindow` of the settings, else the window of the current model. */
export function windowAt({ state }: Selection, { contextWindow, windows }: ResolvedSettings): number {
  return contextWindow ?? windowOf(state.models["default"]?.model, windows)
}

/** The pruning of the settings, by shares of the given window, else of the current model's window. */
export function pruningOf(
  layers: SettingsLayers,
  selection: Selection,
  window: number | undefined,
): { readonly prune: boolean | PruneOptions; readonly window: number } {
  const settings = resolveSettings(...layers)
  return { prune: settings.prune, window: window ?? windowAt(selection, settings) }
}

/** Tokens of the system prompt in the log. Anything else that the caller sends is unknown here. */
export async function promptTokensOf(
  live: CompactableSession,
  selection: Selection,
  { countTokens }: Pick<ResolvedSettings, "countTokens">,
  o: CallOptions,
): Promise<number> {
  return promptTokens(await restoreState(live, selection, o), countTokens)
}

/** Tokens of a whole context as a model gets it: repaired, and pruned if the settings prune. */
export function tokensInView(
  messages: readonly ContextMessage[],
  { prune, countTokens }: Pick<ResolvedSettings, "prune" | "countTokens">,
  sizes: PruneSizes,
): number {
  const { messages: sendable } = repairMessages(toModelMessages(messages).messages, "synthesize")
  const counting = { ...sizes, ...(countTokens === undefined ? {} : { count: countTokens }) }
  return tokensOf(prune === false ? sendable : pruneMessages(sendable, prune, counting).messages, countTokens)
}

/** Tokens of the end of a context. It is not repaired, since its first results may belong to calls before it. */
export function tokensOfRest(messages: readonly ContextMessage[], countTokens: TokenCounter | undefined): number {
  return tokensOf(toModelMessages(messages).messages, countTokens)
}

function tokensOf(messages: readonly ContextMessage[], countTokens: TokenCounter | undefined): number {
  return estimateMessages(
    messages.map(({ message }) => message),
    countTokens,
  )
}

/** A rule by the name of its setting. */
export function describeRule({ kind, count }: KeepRule): { readonly name: string; readonly text: string } {
  const name = { tokens: "keepRecentTokens", turns: "keepTurns", messages: "keepMessages" }[kind]
  return { name, text: `${name} (${count})` }
}

/** Why a compacted context, pruned if the settings prune, does not fit the window; undefined if it fits. */
export function tooLargeFor(
  window: number,
  settings: ResolvedSettings,
  done: { readonly summary: string; readonly work: PreparedCompaction; readonly promptTokens: number },
): string | undefined {
  const { work, promptTokens: otherTokens } = done
  const { countTokens: count = estimateMessage, summaryAs } = settings
  const summary: ContextMessage = {
    entryId: "",
    kind: "compaction",
    message: { role: COMPACTION_ROLE, summaryText: done.summary, summaryAs },
  }
  const tokens = otherTokens + tokensInView([summary, ...work.kept], settings, { window, otherTokens })
  if (tokens <= window) return undefined
  let kept = 0
  let largest = { tokens: 0, what: "" }
  for (const { entryId, message } of work.kept) {
    const own = count(message)
    kept += own
    const what = message.role === "toolResult" ? "tool result" : "message"
    if (own > largest.tokens) largest = { tokens: own, what: `the ${what} of entry ${entryId}` }
  }
  const { name, text } = describeRule(work.keep)
  const all = `The context still has about ${tokens} tokens and the window has ${window}: ${text} keeps ${kept} of them`
  if (largest.tokens > window)
    return `${all}, and ${largest.what} alone has ${largest.tokens}. Prune the context, edit that entry, or use a larger window.`
  return `${all}. Lower ${name}, prune the context, or use a larger window.`
}
