/** The messages of a context where something has to be done to the entries: to bring back, to render, to edit or to repair. */
import { toModelMessages } from "../context/model-messages.ts"
import { renderMessages } from "../context/render.ts"
import { repairMessages } from "../context/repair.ts"
import type { Selection } from "../context/select.ts"
import type { ContextMessage } from "../context/types.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ModelMessage } from "../format/messages.ts"
import type { ContextState } from "../format/records.ts"
import { restoreSelected, restoreState } from "./restoring.ts"
import type { SharedSession } from "./shared-session.ts"
import type { ContextOptions } from "./types.ts"

export interface ContextMessages {
  readonly messages: readonly ContextMessage<ModelMessage>[]
  readonly state: ContextState
  readonly diagnostics: readonly Diagnostic[]
}

export async function contextMessages(
  shared: SharedSession,
  selection: Selection,
  o: ContextOptions,
): Promise<ContextMessages> {
  const restored = await restoreSelected(shared, selection.entries, o)
  const rendered = renderMessages(restored.entries)
  const model = toModelMessages(rendered.messages, o.summaryAs)
  const { messages, diagnostics } = repairMessages(model.messages, o.repair ?? "synthesize")
  return {
    messages,
    state: await restoreState(shared, selection, o),
    // Blobs that are missing are told of by rendering, which puts something in their place.
    diagnostics: [...rendered.diagnostics, ...model.diagnostics, ...diagnostics],
  }
}
