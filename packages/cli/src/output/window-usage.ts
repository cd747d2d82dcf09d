/** Computes how a session's context fills a model's context window, and what compaction and pruning would remove. Pure. */
import { estimateMessages, type SessionContext } from "@sessions/core"
import { findCutPoint, shouldCompact } from "@sessions/core/compaction"

/** All values in tokens. */
export interface WindowOptions {
  readonly window: number
  readonly reserveTokens: number
  readonly keepRecentTokens: number
}

/** The field `fill` of `context --json`, documented in the package's README. */
export interface WindowUsage {
  readonly window: number
  /** Size of the shown context. */
  readonly tokens: number
  readonly parts: Readonly<Record<WindowPart, number>>
  /** Undefined if everything is within `keepRecentTokens`, so that nothing can be summarized. */
  readonly compaction?: {
    /** The shown context is larger than the window less the reserve, so a session with automatic compaction would compact now. */
    readonly due: boolean
    readonly messagesSummarized: number
    readonly tokensSummarized: number
    readonly messagesKept: number
    readonly tokensKept: number
    readonly firstKeptEntryId?: string
  }
  readonly pruning: {
    readonly trimmed: number
    readonly cleared: number
    readonly tokensFreed: number
    /** The pruned context fits into the window. */
    readonly fits: boolean
  }
}

/** In the order of the bar. `reserve` is the part of `reserveTokens` that the context has not used up. */
export type WindowPart = "prompt" | "summary" | "messages" | "toolResults" | "free" | "reserve"

/** `shown` is the context that the command shows, `whole` the one without pruning, `pruned` the one with it. */
export function windowUsage(
  { shown, whole, pruned }: Readonly<Record<"shown" | "whole" | "pruned", SessionContext>>,
  options: WindowOptions,
): WindowUsage {
  const compaction = plannedCompaction(whole, shown.tokens, options)
  const changes = pruned.pruned ?? []
  return {
    window: options.window,
    tokens: shown.tokens,
    parts: partsOf(shown, options),
    ...(compaction === undefined ? {} : { compaction }),
    pruning: {
      trimmed: changes.filter(({ how }) => how === "trimmed").length,
      cleared: changes.filter(({ how }) => how === "cleared").length,
      tokensFreed: whole.tokens - pruned.tokens,
      fits: pruned.fits === true,
    },
  }
}

function partsOf({ messages, tokens }: SessionContext, { window, reserveTokens }: WindowOptions): WindowUsage["parts"] {
  // Where a provider has counted less than the estimate, each part has less.
  const scale = Math.min(1, tokens / Math.max(1, tokensOf(messages)))
  const sum = (isCounted: (item: Item) => boolean): number => Math.round(scale * tokensOf(messages.filter(isCounted)))
  const summary = sum(({ kind }) => kind === "compaction")
  const toolResults = sum(({ message }) => message.role === "toolResult")
  const prompt = tokens - sum(() => true)
  const unused = Math.max(0, window - tokens)
  const reserve = Math.min(unused, reserveTokens)
  return {
    prompt,
    summary,
    messages: tokens - prompt - summary - toolResults,
    toolResults,
    free: unused - reserve,
    reserve,
  }
}

function plannedCompaction(
  context: SessionContext,
  tokens: number,
  { window, reserveTokens, keepRecentTokens }: WindowOptions,
): WindowUsage["compaction"] {
  const messages = context.messages.filter(({ kind }) => kind !== "compaction")
  const cut = findCutPoint(
    messages.map(({ message }) => message),
    { kind: "tokens", count: keepRecentTokens },
  )
  if (cut === undefined) return undefined
  const kept = messages.slice(cut.first)
  return {
    due: shouldCompact(tokens, window, { reserveTokens }),
    messagesSummarized: cut.first,
    tokensSummarized: tokensOf(messages.slice(0, cut.first)),
    messagesKept: kept.length,
    tokensKept: tokensOf(kept),
    ...(kept[0] === undefined ? {} : { firstKeptEntryId: kept[0].entryId }),
  }
}

type Item = SessionContext["messages"][number]

function tokensOf(items: readonly Item[]): number {
  return estimateMessages(items.map(({ message }) => message))
}
