/** Adds to a context why it does not fit, and which of its summaries are outdated. */
import type { Measure } from "../context/assemble.ts"
import { explainFit } from "../context/explain-fit.ts"
import type { Selection } from "../context/select.ts"
import type { SessionContext } from "../context/types.ts"
import type { ModelMessage } from "../format/message.ts"
import type { ReadableSession } from "./live-types.ts"
import type { CallOptions } from "../storage/contract.ts"
import { windowSettings } from "../compaction-settings/windows.ts"
import type { SettingsLayers } from "../compaction-settings/layers.ts"
import { readOutdated } from "./read-outdated.ts"
import { summarizedDiagnostic } from "../context/outdated.ts"
import { explainSize } from "../compaction-settings/request-size.ts"

export interface Explained {
  readonly selection: Selection
  readonly measured: Measure
  readonly layers: SettingsLayers
  readonly o: CallOptions
  /** It may have more bytes or images than its model takes. */
  readonly isLarge: boolean
  /** A summary in it may be outdated. */
  readonly isOutdated: boolean
}

export async function explainContext<M extends ModelMessage>(
  live: ReadableSession,
  context: SessionContext<M>,
  { selection, measured, layers, o, isLarge, isOutdated }: Explained,
): Promise<SessionContext<M>> {
  const fitted = explainFit(context, measured)
  const sized = isLarge ? explainSize(fitted, live.state.log, selection, windowSettings(layers).windows) : fitted
  if (!isOutdated) return sized
  const outdated = await readOutdated(live, selection, o)
  return { ...sized, diagnostics: [...sized.diagnostics, ...outdated.map(summarizedDiagnostic)] }
}
