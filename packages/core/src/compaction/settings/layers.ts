/** What a session must know of its settings before anything is compacted. Small: a page loads it with every session. */
import { SessionError } from "../../format/errors.ts"
import { checkedCounter } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import type { CompactionSettings } from "../types.ts"

/** Settings of which a level gives one at most: when it is time, and what is kept. */
export const TRIGGERS = ["reserveTokens", "thresholdTokens", "thresholdShare"] as const
export const KEEPS = ["keepRecentTokens", "keepTurns", "keepMessages"] as const
export const MAX_FAILURES = 3

/** The weakest first. */
export type SettingsLayers = readonly (CompactionSettings | undefined)[]

/** What the last level says that says anything. */
export function resolveSetting<K extends keyof CompactionSettings>(
  levels: SettingsLayers,
  key: K,
): CompactionSettings[K] | undefined {
  return levels.findLast((level) => level?.[key] !== undefined)?.[key]
}

/** The caller's, which must be able to count. */
export function counterOf(levels: SettingsLayers): TokenCounter | undefined {
  const count = resolveSetting(levels, "countTokens")
  return count === undefined ? undefined : checkedCounter(count)
}

/** Whether sessions with these settings are compacted by themselves. No preset has a part in that. */
export function isAutomatic(levels: SettingsLayers): boolean {
  return resolveSetting(levels, "enabled") !== false && resolveSetting(levels, "summarize") !== undefined
}

/** Throws `invalid` for a level that says two things of one. */
export function checkExclusive(level: CompactionSettings): void {
  for (const group of [TRIGGERS, KEEPS]) {
    const both = group.filter((key) => level[key] !== undefined)
    if (both.length < 2) continue
    const message = `${both.join(" and ")} exclude each other: give one of ${group.join(", ")} in one place.`
    throw new SessionError("invalid", message)
  }
}
