/** Makes the context of an open session: selects, restores, renders, repairs and prunes. Reads no line before the context. */
import { assembleContext, checkWindow, sizesOf } from "../context/assemble.ts"
import { counterOf } from "../compaction/settings/layers.ts"
import type { SettingsLayers } from "../compaction/settings/layers.ts"
import type { PruneOptions } from "../context/prune/settings.ts"
import { plainMessages } from "../context/plain.ts"
import type { Selection } from "../context/select.ts"
import type { ContextMessage, SessionContext } from "../context/types.ts"
import { compactionFeature } from "./features.ts"
import type { ReadableSession } from "./live.ts"
import type { ContextOptions } from "./types.ts"
import { toModelMessages } from "../context/model-messages.ts"
import { renderMessages } from "../context/render.ts"
import { repairMessages } from "../context/repair.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ModelMessage } from "../format/message.ts"
import type { ContextState } from "../format/entry.ts"
import { restoreSelected, restoreState, selectAt } from "./read-path.ts"

/**
 * The context at the leaf. `layers` are the compaction settings: they count tokens, and prune if the call does not set `prune`. Rejects
 * with `invalid` for a wrong option, and with the errors of the storage.
 */
export async function readContext(
  live: ReadableSession,
  o: ContextOptions = {},
  layers: SettingsLayers = [],
): Promise<SessionContext> {
  const { window } = o
  checkWindow(window)
  const selection = await selectAt(live, live.state.leafId, o)
  const plain =
    selection.stateBlobs === undefined
      ? plainMessages(selection.entries, o.repair ?? "synthesize", o.summaryAs)
      : undefined
  const said =
    plain === undefined
      ? await contextMessages(live, selection, o)
      : { messages: plain, state: selection.state, diagnostics: [] }
  const { state, diagnostics } = said
  const count = counterOf(layers)
  const counting = count === undefined ? {} : { count }
  const measure = { ...counting, ...(window === undefined ? {} : { window }) }
  const asked = await pruningOf(o, layers, selection)
  const prunedOrNot =
    asked.prune === false
      ? said
      : (await compactionFeature()).pruneMessages(said.messages, asked.prune, sizesOf(state, { ...counting, ...asked }))
  const context = assembleContext({ ...selection, state }, { ...prunedOrNot, diagnostics }, measure)
  return context.fits === false ? (await compactionFeature()).explainFit(context, measure) : context
}

/** The pruning of the call, else that of the settings; the window likewise. */
async function pruningOf(
  { prune, window }: ContextOptions,
  layers: SettingsLayers,
  selection: Selection,
): Promise<{ readonly prune: boolean | PruneOptions; readonly window?: number }> {
  const given = { prune: prune ?? false, ...(window === undefined ? {} : { window }) }
  const asSet = prune === undefined || (prune !== false && window === undefined)
  if (!asSet || layers.every((layer) => layer === undefined)) return given
  const set = (await compactionFeature()).pruningOf(layers, selection, window)
  return prune === undefined ? set : { ...set, prune }
}

interface ContextMessages {
  readonly messages: readonly ContextMessage<ModelMessage>[]
  readonly state: ContextState
  readonly diagnostics: readonly Diagnostic[]
}

async function contextMessages(
  live: ReadableSession,
  selection: Selection,
  o: ContextOptions,
): Promise<ContextMessages> {
  const restored = await restoreSelected(live, selection.entries, o)
  const rendered = renderMessages(restored.entries)
  const model = toModelMessages(rendered.messages, o.summaryAs)
  const { messages, diagnostics } = repairMessages(model.messages, o.repair ?? "synthesize")
  return {
    messages,
    state: await restoreState(live, selection, o),
    // The diagnostics of restoring are left out: rendering reports each missing blob, and replaces it.
    diagnostics: [...rendered.diagnostics, ...model.diagnostics, ...diagnostics],
  }
}
