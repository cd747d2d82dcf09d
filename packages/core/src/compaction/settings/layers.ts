/** What a session must know of its settings before anything is compacted. Small: a page loads it with every session. */
import { SessionError } from "../../format/errors.ts"
import { checkedCounter } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import type { CompactionSettings } from "../types.ts"

/** Settings of which a layer gives one at most: when it is time, and what is kept. */
export const TRIGGERS = ["reserveTokens", "thresholdTokens", "thresholdShare"] as const
export const KEEPS = ["keepRecentTokens", "keepTurns", "keepMessages"] as const
export const MAX_FAILURES = 3

/** The weakest first. */
export type SettingsLayers = readonly (CompactionSettings | undefined)[]

/** What the last layer says that says anything. */
export function resolveSetting<K extends keyof CompactionSettings>(
  layers: SettingsLayers,
  key: K,
): CompactionSettings[K] | undefined {
  return layers.findLast((layer) => layer?.[key] !== undefined)?.[key]
}

/** The caller's, which must be able to count. */
export function counterOf(layers: SettingsLayers): TokenCounter | undefined {
  const count = resolveSetting(layers, "countTokens")
  return count === undefined ? undefined : checkedCounter(count)
}

/** Whether sessions with these settings are compacted by themselves. No preset has a part in that. */
export function isAutomatic(layers: SettingsLayers): boolean {
  return resolveSetting(layers, "enabled") !== false && resolveSetting(layers, "summarize") !== undefined
}

/** Throws `invalid` for a layer that says two things of one. */
export function checkExclusive(layer: CompactionSettings): void {
  for (const group of [TRIGGERS, KEEPS]) {
    const both = group.filter((key) => layer[key] !== undefined)
    if (both.length < 2) continue
    const message = `${both.join(" and ")} exclude each other: give one of ${group.join(", ")} in one place.`
    throw new SessionError("invalid", message)
  }
}
