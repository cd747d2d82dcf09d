/** How full the window of a model is, and what compaction and pruning would take out of it. Pure. */
import { estimateMessages } from "@sessions/core"
import type { SessionContext } from "@sessions/core"
import { findCutPoint, shouldCompact } from "@sessions/core/compaction"

export interface FillOptions {
  /** Tokens, as everything here. */
  readonly window: number
  readonly reserveTokens: number
  readonly keepRecentTokens: number
}

/** The shape that the package's README documents. */
export interface Fill {
  readonly window: number
  /** Of the context as it is shown. */
  readonly tokens: number
  readonly parts: Readonly<Record<FillPart, number>>
  /** Undefined: nothing can be cut, all of it is within what is kept. */
  readonly compaction?: {
    /** What is shown is more than the window less the reserve: a session that compacts by itself would do it now. */
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
    /** Whether the context fits when it is pruned. */
    readonly fits: boolean
  }
}

/** In the order of the bar. What is kept for the answer is what the context has left of the reserve. */
export type FillPart = "prompt" | "summary" | "messages" | "toolResults" | "free" | "reserve"

/** `shown` is what the command shows; `whole` and `pruned` are the context without and with pruning. */
export function fillOf(
  { shown, whole, pruned }: Readonly<Record<"shown" | "whole" | "pruned", SessionContext>>,
  o: FillOptions,
): Fill {
  const compaction = cutOf(whole, shown.tokens, o)
  const cut = pruned.pruned ?? []
  return {
    window: o.window,
    tokens: shown.tokens,
    parts: partsOf(shown, o),
    ...(compaction === undefined ? {} : { compaction }),
    pruning: {
      trimmed: cut.filter(({ how }) => how === "trimmed").length,
      cleared: cut.filter(({ how }) => how === "cleared").length,
      tokensFreed: whole.tokens - pruned.tokens,
      fits: pruned.fits === true,
    },
  }
}

function partsOf({ messages, tokens }: SessionContext, { window, reserveTokens }: FillOptions): Fill["parts"] {
  const sum = (belongs: (item: Item) => boolean): number => tokensOf(messages.filter(belongs))
  const summary = sum(({ kind }) => kind === "compaction")
  const toolResults = sum(({ message }) => message.role === "toolResult")
  const prompt = tokens - tokensOf(messages)
  const left = Math.max(0, window - tokens)
  const reserve = Math.min(left, reserveTokens)
  return {
    prompt,
    summary,
    messages: tokens - prompt - summary - toolResults,
    toolResults,
    free: left - reserve,
    reserve,
  }
}

function cutOf(
  context: SessionContext,
  tokens: number,
  { window, reserveTokens, keepRecentTokens }: FillOptions,
): Fill["compaction"] {
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
