/** Looks up a setting in its layers: the settings of the repository, of the session and of the call. */
import { SessionError } from "../../format/errors.ts"
import { checkedCounter } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import type { CompactionSettings } from "../types.ts"

/** Exclusive settings: a layer sets at most one of each list. */
export const TRIGGERS = ["reserveTokens", "thresholdTokens", "thresholdShare"] as const
export const KEEPS = ["keepRecentTokens", "keepTurns", "keepMessages"] as const
export const MAX_FAILURES = 3

/** Lowest priority first. */
export type SettingsLayers = readonly (CompactionSettings | undefined)[]

/** The last defined value wins. */
export function resolveSetting<K extends keyof CompactionSettings>(
  layers: SettingsLayers,
  key: K,
): CompactionSettings[K] | undefined {
  return layers.findLast((layer) => layer?.[key] !== undefined)?.[key]
}

/** The caller's `countTokens`, wrapped so that a wrong result throws. */
export function counterOf(layers: SettingsLayers): TokenCounter | undefined {
  const count = resolveSetting(layers, "countTokens")
  return count === undefined ? undefined : checkedCounter(count)
}

/** Whether sessions with these settings are compacted automatically. No preset sets these two. */
export function isAutomatic(layers: SettingsLayers): boolean {
  return resolveSetting(layers, "enabled") !== false && resolveSetting(layers, "summarize") !== undefined
}

/** Throws `invalid` for a layer that sets two exclusive settings. */
export function checkExclusive(layer: CompactionSettings): void {
  for (const exclusive of [TRIGGERS, KEEPS]) {
    const both = exclusive.filter((key) => layer[key] !== undefined)
    if (both.length < 2) continue
    const message = `${both.join(" and ")} exclude each other: set only one of ${exclusive.join(", ")} in the same options.`
    throw new SessionError("invalid", message)
  }
}
