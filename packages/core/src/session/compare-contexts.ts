/** Shortens the messages of a context as its value and recorded steps say, and compares the context with the request of its last answer. */
import type { ContextParts } from "../context/assemble.ts"
import { commonPart, selectBefore } from "../context/compare.ts"
import { pruneSizes } from "../context/prune/sent-sizes.ts"
import type { LastRequest } from "../context/reused.ts"
import type { Selection } from "../context/select.ts"
import { lastSetting } from "../context/settings.ts"
import type { PruneSizes, Shortening } from "../context/shortening.ts"
import type { ContextMessage } from "../context/types.ts"
import { shortenedDiagnostics } from "../context/view/recorded-steps.ts"
import { viewOf } from "../context/view/view.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContextState } from "../format/entry.ts"
import type { ModelMessage } from "../format/message.ts"
import type { TokenCounter } from "../format/tokens.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { ReadableSession } from "./live-types.ts"
import type { ContextOptions } from "./types.ts"
import type { Seq } from "../storage/contract.ts"
import type { SettingsLayers } from "../compaction-settings/layers.ts"
import { knownWindow, unknownWindow, windowAt, windowSettings } from "../compaction-settings/windows.ts"

interface Messages {
  readonly messages: readonly ContextMessage<ModelMessage>[]
  readonly state: ContextState
  readonly diagnostics: readonly Diagnostic[]
}

export interface Comparison {
  readonly read: Messages
  /** Makes the messages of another selection. `end`: that of the log as it was then. */
  readonly make: (live: ReadableSession, selection: Selection, o: ContextOptions, end?: Seq) => Promise<Messages>
  /** The number of messages that the last request certainly had; undefined: unknown. */
  readonly same: number | undefined
  readonly request: LastRequest
  readonly shorten: Shortening | false
  readonly selection: Selection
  readonly layers: SettingsLayers
  readonly count: TokenCounter | undefined
  readonly o: ContextOptions
}

/** If results are shortened for the assumed window of an unknown model, a diagnostic says so. */
export async function compareContexts(live: ReadableSession, given: Comparison): Promise<ContextParts<ModelMessage>> {
  const { read, request, selection, same } = given
  const { view, unknownModel } = viewWith(live.state.log, given)
  const now = view(read.messages)
  const parts = {
    ...now,
    diagnostics: [
      ...read.diagnostics,
      ...shortenedDiagnostics(now.steps ?? []),
      ...(unknownModel === undefined ? [] : [unknownWindow(unknownModel)]),
    ],
  }
  const { answer, brokenBy } = request
  if (answer === undefined) return { ...parts, common: { same: same as number, brokenBy } }
  const before = same === undefined ? await messagesBefore(live, answer.seq, given) : read.messages.slice(0, same)
  return { ...parts, common: commonPart(live.state.log, selection, request, view(before, answer.seq), now) }
}

/** The messages of the request of an answer, read from the log as it was then. */
async function messagesBefore(
  live: ReadableSession,
  answer: number,
  { make, o }: Comparison,
): Promise<Messages["messages"]> {
  const { store, state } = live
  const ask = (): ReturnType<typeof selectBefore> => selectBefore(state.log, answer, state.header)
  return (await make(live, await store.untilKnown(() => state.log, ask, o), o, answer)).messages
}

/** Shortens results, if the call or the settings say so, in the window of the call or of the settings; recorded steps hold by that of the settings. */
function viewWith(
  log: EntryLog,
  { read, shorten, selection, layers, count, o }: Comparison,
): { readonly view: ReturnType<typeof viewOf<ModelMessage>>; readonly unknownModel?: string | undefined } {
  const { window: given } = o
  const settings = windowSettings(layers)
  const { window: own, unknownModel } = windowAt(selection, settings)
  const isGiven = given !== undefined || layers.every((layer) => layer === undefined)
  const from = { ...selection, state: read.state }
  const overheadTokens = lastSetting(layers, "overheadTokens")
  const sizes = (whole: readonly ContextMessage[]): PruneSizes =>
    pruneSizes(log, from, whole, { window: isGiven ? given : own, count, overheadTokens })
  const view = viewOf<ModelMessage>(log, selection, { shorten, sizes, window: knownWindow(selection, settings) })
  return { view, unknownModel: shorten === false || isGiven ? undefined : unknownModel }
}
