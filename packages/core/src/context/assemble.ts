/** Assembles a `SessionContext` from the selection of entries and the messages made of them: state, tokens, diagnostics. */
import { estimateMessage, type TokenCounter } from "../format/tokens.ts"
import { SessionError } from "../format/errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/message.ts"
import type { ContextState } from "../format/entry.ts"
import { findRepeatedCall, repeatedCallDiagnostic } from "./repeated-call.ts"
import type { CommonPart } from "./reused.ts"
import type { Selection } from "./select.ts"
import type { ContextMessage, PrunedResult, SessionContext } from "./types.ts"

/** Throws `invalid` unless the window is a number of tokens above 0, or undefined. */
export function checkWindow(window: number | undefined): void {
  if (window === undefined || (typeof window === "number" && window > 0)) return
  throw new SessionError("invalid", `window must be a number of tokens above 0, not ${String(window)}.`)
}

export function promptTokens(
  { systemPromptOverride: text = "" }: Pick<ContextState, "systemPromptOverride">,
  count: TokenCounter = estimateMessage,
): number {
  return text === "" ? 0 : count({ role: "system", content: [{ type: "text", text }] })
}

/** How the tokens of a context are counted and compared. */
export interface Measure {
  readonly window?: number | undefined
  /** Default: an estimate. */
  readonly count?: TokenCounter | undefined
}

export interface ContextParts<M extends Message> {
  readonly messages: readonly ContextMessage<M>[]
  /** Present if the messages were pruned. */
  readonly pruned?: readonly PrunedResult[]
  readonly common: CommonPart
  readonly diagnostics: readonly Diagnostic[]
}

/** If the context does not fit, `explainFit` adds the reason. */
export function assembleContext<M extends Message>(
  selection: Selection,
  { messages, pruned, common: { same, brokenBy }, diagnostics }: ContextParts<M>,
  { window, count = estimateMessage }: Measure = {},
): SessionContext<M> {
  const { modelIsExplicit: _, ...state } = selection.state
  const model = Object.hasOwn(state.models, "default") ? state.models["default"] : undefined
  // The system messages that it carries have its seq and are before it.
  const compaction = selection.entries.findLast(({ seq }) => seq === selection.compaction)?.entry
  const before = compaction?.["tokensBefore"]
  let tokens = promptTokens(state, count)
  let reused = 0
  let left = same
  for (const { message } of messages) {
    if (left-- === 0) reused = tokens
    tokens += count(message)
  }
  if (left === 0) reused = tokens
  const repeated = findRepeatedCall(messages)
  return {
    messages,
    ...state,
    ...(model === undefined ? {} : { model }),
    ...(compaction === undefined
      ? {}
      : { compaction: { entryId: compaction.id, tokensBefore: typeof before === "number" ? before : 0 } }),
    ...(pruned === undefined ? {} : { pruned }),
    tokens,
    reused: { tokens: reused, ...(brokenBy === undefined ? {} : { brokenBy }) },
    ...(window === undefined ? {} : { fits: tokens <= window }),
    diagnostics: [
      ...selection.diagnostics,
      ...diagnostics,
      ...(repeated === undefined ? [] : [repeatedCallDiagnostic(repeated)]),
    ],
  }
}
