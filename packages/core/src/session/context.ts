/** Makes the context of an open session: selects, restores, renders, repairs and prunes. Reads no line before the context. */
import { assembleContext, checkWindow, type ContextParts, promptTokens } from "../context/assemble.ts"
import { counterOf, resolveSettings, settingsAt, type SettingsLayers } from "../compaction/settings/settings.ts"
import { unknownWindow } from "../compaction/settings/windows.ts"
import type { PruneOptions } from "../context/prune/settings.ts"
import { plainMessages } from "../context/plain.ts"
import type { Selection } from "../context/select.ts"
import type { ContextMessage, SessionContext } from "../context/types.ts"
import { compactionFeature } from "./features.ts"
import type { ReadableSession } from "./live.ts"
import type { ContextOptions } from "./types.ts"
import { toModelMessages } from "../context/model-messages.ts"
import { renderMessages } from "../context/render.ts"
import { unknownNames } from "../context/unknown-names.ts"
import { repairMessages } from "../context/repair.ts"
import { cloneJson } from "../format/clone.ts"
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
  const { window, repair = "synthesize", summaryAs } = o
  checkWindow(window)
  const selection = await selectAt(live, live.state.leafId, o)
  const plain =
    selection.stateBlobs === undefined
      ? plainMessages(selection.entries, repair, summaryAs, live.options.extensions)
      : undefined
  const read =
    plain === undefined
      ? await contextMessages(live, selection, o)
      : { messages: plain, state: selection.state, diagnostics: [] }
  const { state } = read
  const count = counterOf(layers)
  const pruning = pruningOf(o, layers, selection)
  let parts: ContextParts<ModelMessage> = read
  if (pruning.prune !== false) {
    const { pruneMessages } = await compactionFeature()
    const sizes = { window: pruning.window, otherTokens: promptTokens(state, count), count }
    parts = { ...read, ...pruneMessages(read.messages, pruning.prune, sizes) }
  }
  if (pruning.unknownModel !== undefined)
    parts = { ...parts, diagnostics: [...parts.diagnostics, unknownWindow(pruning.unknownModel)] }
  const context = assembleContext({ ...selection, state }, parts, { window, count })
  return context.fits === false ? (await compactionFeature()).explainFit(context, { window, count }) : context
}

export function withDiagnostic(context: SessionContext, diagnostic: Diagnostic): SessionContext {
  return { ...context, diagnostics: [...context.diagnostics, diagnostic] }
}

/** The context as a caller may change it: the messages that were read are those of the log in memory. Their list was made for this call. */
export function ownContext({ messages, ...rest }: SessionContext): SessionContext {
  for (const item of messages as readonly { message: ModelMessage }[]) item.message = cloneJson(item.message)
  return { ...cloneJson(rest), messages }
}

/** The pruning of the call, else that of the settings; the window likewise. */
function pruningOf({ prune, window }: ContextOptions, layers: SettingsLayers, selection: Selection): Pruning {
  const isGiven = prune === false || (prune !== undefined && window !== undefined)
  if (isGiven || layers.every((layer) => layer === undefined)) return { prune: prune ?? false, window }
  const settings = settingsAt(selection, resolveSettings(...layers))
  const pruning = { prune: prune ?? settings.prune, window: window ?? settings.window }
  const isAssumed = pruning.prune !== false && window === undefined
  return isAssumed ? { ...pruning, unknownModel: settings.unknownModel } : pruning
}

interface Pruning {
  readonly prune: boolean | PruneOptions
  readonly window: number | undefined
  /** The current model, if its window is not known and `window` is assumed. */
  readonly unknownModel?: string | undefined
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
    diagnostics: [
      ...rendered.diagnostics,
      ...unknownNames(rendered.messages, live.options.extensions),
      ...model.diagnostics,
      ...diagnostics,
    ],
  }
}
