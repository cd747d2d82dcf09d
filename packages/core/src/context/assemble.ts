/** Assembles a `SessionContext` from the selection of entries and the messages made of them: state, tokens, diagnostics. */
import { cloneJson } from "../format/clone.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/message.ts"
import { findRepeatedCall, repeatedCallDiagnostic } from "./repeated-call.ts"
import type { StepChange } from "./changes.ts"
import type { CommonPart } from "./reused.ts"
import type { Ruler } from "./ruler.ts"
import type { Selection } from "./select.ts"
import type { ContextMessage, PrunedResult, SessionContext, ShortenedMessage } from "./types.ts"

/** The size of a context, and what it is compared with. */
export interface Measure {
  readonly window?: number | undefined
  readonly ruler: Ruler
}

export interface ContextParts<M extends Message> {
  readonly messages: readonly ContextMessage<M>[]
  /** The messages as they were before they were pruned. */
  readonly whole?: readonly ContextMessage[]
  /** Present if the messages were pruned. */
  readonly pruned?: readonly PrunedResult[]
  readonly shortened?: readonly ShortenedMessage[]
  /** Changes by recorded steps. */
  readonly steps?: readonly StepChange[]
  readonly common: CommonPart
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * If the context does not fit, `explainFit` adds the reason. The ruler is read with the sizes: most loops ask for neither, and to measure
 * takes a third of the first context in a process, and half of one with 200 MB.
 */
export function assembleContext<M extends Message>(
  selection: Selection,
  { messages, pruned, shortened, common: { same, brokenBy }, diagnostics }: ContextParts<M>,
  measured: Measure,
): SessionContext<M> {
  const { window } = measured
  const { modelIsExplicit: _, ...state } = selection.state
  const model = Object.hasOwn(state.models, "default") ? state.models["default"] : undefined
  // The system messages that it includes have its seq and are before it.
  const compaction = selection.entries.findLast(({ seq }) => seq === selection.compaction)?.entry
  const before = compaction?.["tokensBefore"]
  const repeated = findRepeatedCall(messages)
  return {
    messages,
    ...cloneJson(state),
    ...(model === undefined ? {} : { model }),
    ...(compaction === undefined
      ? {}
      : { compaction: { entryId: compaction.id, tokensBefore: typeof before === "number" ? before : 0 } }),
    ...cloneJson({ ...(pruned === undefined ? {} : { pruned }), ...(shortened === undefined ? {} : { shortened }) }),
    get tokens() {
      return measured.ruler.tokens
    },
    reused: {
      get tokens() {
        return reusedTokens(measured.ruler, same)
      },
      ...(brokenBy === undefined ? {} : { brokenBy }),
    },
    ...(window === undefined ? {} : { fits: measured.ruler.tokens <= measured.ruler.limit(window) }),
    diagnostics: cloneJson([
      ...selection.diagnostics,
      ...diagnostics,
      ...(repeated === undefined ? [] : [repeatedCallDiagnostic(repeated)]),
    ]),
  }
}

/** `same`: how many messages were in the last request; -1: there was none. */
function reusedTokens({ before, sizes }: Ruler, same: number): number {
  let tokens = same < 0 ? 0 : before
  for (let at = 0; at < same; at++) tokens += sizes[at] as number
  return Math.round(tokens)
}
