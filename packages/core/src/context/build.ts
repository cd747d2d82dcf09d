/** The context of a leaf, from entries in memory. Pure; `Session.context()` does the same over a log that it reads on demand. */
import { estimateMessages } from "../compaction/tokens.ts"
import { SessionError } from "../errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/messages.ts"
import type { ContextState, Header } from "../format/records.ts"
import { EntryLog } from "../tree/entry-log.ts"
import type { Slot } from "../tree/entry-log.ts"
import { defaultLeaf } from "../tree/path.ts"
import { checkWindow, promptTokens, whyNotFitting } from "./fit.ts"
import { pruneMessages } from "./prune/prune.ts"
import type { PruneSizes } from "./prune/prune.ts"
import type { PruneOptions } from "./prune/settings.ts"
import { renderMessages } from "./render.ts"
import { findRepeatedCall, repeatedCallDiagnostic } from "./repeated-call.ts"
import { selectContext } from "./select.ts"
import type { Selection } from "./select.ts"
import type { ContextMessage, PrunedResult, SessionContext } from "./types.ts"

export interface BuildOptions {
  /** Gives the state its start. */
  readonly header?: Header
  /** Tokens that the context should fit. */
  readonly window?: number
  /** Old tool results made shorter, as `Session.context()` does it. */
  readonly prune?: boolean | PruneOptions
}

/**
 * The context at a leaf with custom roles kept and nothing repaired. `entries` is a whole log: the slot's index is its seq, with
 * the header (or anything that is no entry) as undefined. `leafId` null is the empty context; omitted, the last entry; an id that
 * no entry has is `not_found`.
 */
export function buildSessionContext(
  entries: readonly Slot[] | EntryLog,
  leafId?: string | null,
  o: BuildOptions = {},
): SessionContext<Message> {
  const log = entries instanceof EntryLog ? entries : EntryLog.of(entries)
  const leaf = leafId === undefined ? defaultLeaf(log) : leafId === null ? null : log.find(leafId)
  if (leaf === undefined)
    throw new SessionError("not_found", `There is no entry ${JSON.stringify(leafId)} in this log.`)
  const selection = selectContext(log, leaf, o.header)
  if ("older" in selection) {
    throw new SessionError("invalid", "The entries are not a whole log; a session reads what is missing by itself.")
  }
  checkWindow(o.window)
  const { messages, diagnostics } = renderMessages(selection.entries)
  if (o.prune === undefined || o.prune === false) return assembleContext(selection, { messages, diagnostics }, o)
  const pruned = pruneMessages(messages, o.prune, sizesOf(selection.state, o))
  return assembleContext(selection, { ...pruned, diagnostics }, o)
}

/** What pruning is to know of the context beside its messages. */
export function sizesOf(
  { systemPromptOverride }: Pick<ContextState, "systemPromptOverride">,
  { window }: { readonly window?: number },
): PruneSizes {
  return { otherTokens: promptTokens(systemPromptOverride), ...(window === undefined ? {} : { window }) }
}

export interface ContextPieces<M extends Message> {
  readonly messages: readonly ContextMessage<M>[]
  /** Where the messages were pruned. */
  readonly pruned?: readonly PrunedResult[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Puts the pieces of a context together. */
export function assembleContext<M extends Message>(
  selection: Selection,
  { messages, pruned, diagnostics }: ContextPieces<M>,
  { window }: { readonly window?: number } = {},
): SessionContext<M> {
  const { modelIsExplicit: _, ...state } = selection.state
  const model = Object.hasOwn(state.models, "default") ? state.models["default"] : undefined
  const compaction = selection.entries.find(({ seq }) => seq === selection.compaction)?.entry
  const before = compaction?.["tokensBefore"]
  const prompt = promptTokens(state.systemPromptOverride)
  const tokens = prompt + estimateMessages(messages.map(({ message }) => message))
  const fits = window === undefined || tokens <= window
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
    ...(window === undefined ? {} : { fits }),
    diagnostics: [
      ...selection.diagnostics,
      ...diagnostics,
      ...(repeated === undefined ? [] : [repeatedCallDiagnostic(repeated)]),
      ...(fits ? [] : [whyNotFitting(messages, window, { promptTokens: prompt, tokens })]),
    ],
  }
}
