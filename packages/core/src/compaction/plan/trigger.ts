/** Decides whether a context is large enough to be compacted. */
import { checkCallOptions } from "../../format/options.ts"
import { COMPACTION_OPTIONS } from "../../compaction-settings/layers.ts"
import { inWindow, resolveSettings, type SettingsInWindow } from "./settings.ts"
import type { CompactionSettings } from "../../compaction-settings/types.ts"

/**
 * Whether a context with this number of tokens should be compacted before the next turn, under these settings and for a model with this
 * window. Throws `invalid` for wrong settings.
 */
export function shouldCompact(
  contextTokens: number,
  contextWindow: number,
  settings: CompactionSettings = {},
): boolean {
  checkCallOptions("shouldCompact", settings, COMPACTION_OPTIONS)
  const inForce = inWindow(resolveSettings(settings), contextWindow)
  return inForce.enabled && isOver(inForce, contextTokens)
}

/** A reserve is violated only above the limit; a threshold is reached at the limit. */
export function isOver(
  { trigger, limit }: Pick<SettingsInWindow, "trigger" | "limit">,
  contextTokens: number,
): boolean {
  return trigger.kind === "reserve" ? contextTokens > limit : contextTokens >= limit
}
