/** How the settings would have a context seen. */
import type { SettingsLayers } from "../settings/layers.ts"
import { resolveSettings } from "../settings/settings.ts"
import type { PruneOptions } from "../../context/prune/settings.ts"
import type { Selection } from "../../context/select.ts"
import { windowAt } from "./fitting.ts"

/** Pruning as the settings have it, by shares of the given window, else of that of the model in force. */
export function pruningOf(
  levels: SettingsLayers,
  selection: Selection,
  window: number | undefined,
): { readonly prune: boolean | PruneOptions; readonly window: number } {
  const settings = resolveSettings(...levels)
  return { prune: settings.prune, window: window ?? windowAt(selection, settings) }
}
