/** Prunes the messages of a context, in the window of the call or of the compaction settings. */
import { type ContextParts, promptTokens } from "../../context/assemble.ts"
import { pruneMessages } from "../../context/prune/prune.ts"
import type { PruneOptions } from "../../context/prune/settings.ts"
import type { Selection } from "../../context/select.ts"
import type { ContextState } from "../../format/entry.ts"
import type { ModelMessage } from "../../format/message.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import type { SettingsLayers } from "../settings/layers.ts"
import { resolveSettings, settingsAt } from "../settings/settings.ts"
import { unknownWindow } from "../settings/windows.ts"

/** If the window is that of an unknown model, a diagnostic says so. */
export function pruneContext(
  parts: ContextParts<ModelMessage> & { readonly state: ContextState },
  o: {
    readonly prune: true | PruneOptions
    readonly window: number | undefined
    readonly selection: Selection
    readonly layers: SettingsLayers
    readonly count: TokenCounter | undefined
  },
): ContextParts<ModelMessage> {
  const { prune, count, layers } = o
  const isGiven = o.window !== undefined || layers.every((layer) => layer === undefined)
  const { window, unknownModel } = isGiven ? { window: o.window } : settingsAt(o.selection, resolveSettings(...layers))
  const sizes = { window, otherTokens: promptTokens(parts.state, count), count }
  const pruned = { ...parts, ...pruneMessages(parts.messages, prune, sizes) }
  if (unknownModel === undefined) return pruned
  return { ...pruned, diagnostics: [...parts.diagnostics, unknownWindow(unknownModel)] }
}
