/** The settings that decide how large a context is and how it is shown: those of compaction that `context()` needs. */
import { checkedCounter, type TokenCounter } from "../format/tokens.ts"
import type { Shortening } from "./shortening.ts"

export interface ContextSettings {
  /**
   * Counts the tokens of one message, synchronously. Must return a finite number from 0, else the call rejects with `invalid`. Default:
   * an estimate, which the reports of providers calibrate. The program's count is not scaled.
   */
  readonly countTokens?: TokenCounter
  /**
   * Tokens of what the program sends beside the messages, such as its prompt and its tools. Used until a provider has reported the input of a
   * request; from then on the report says it. Default 0.
   */
  readonly overheadTokens?: number
  /**
   * Shortens old tool results in each `context()` call that does not set `shorten`; made by `shorten()` of `@sessions/core/compaction`. The size
   * of a shortened context also decides whether compaction is due. Shares are of the window that `context()` gets, else of the window of these
   * settings. Default false.
   */
  readonly shorten?: Shortening | false
}

/** Lowest priority first. */
export type SettingsLayers<S extends ContextSettings = ContextSettings> = readonly (S | undefined)[]

/** One setting, if a layer has it: the last defined value wins. */
export function lastSetting<S extends ContextSettings, K extends keyof S>(
  layers: SettingsLayers<S>,
  key: K,
): S[K] | undefined {
  return layers.findLast((layer) => layer?.[key] !== undefined)?.[key]
}

/** The caller's `countTokens`, wrapped so that a wrong result throws. */
export function counterOf(layers: SettingsLayers): TokenCounter | undefined {
  const count = lastSetting(layers, "countTokens")
  return count === undefined ? undefined : checkedCounter(count)
}
