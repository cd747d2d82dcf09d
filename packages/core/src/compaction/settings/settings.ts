/**
 * When a session is compacted, and what is kept. The same settings stand on four levels, each of which overrides the one before it:
 * the defaults, `createSessions`, `create` or `open`, and the call.
 */
import type { SummaryStyle } from "../../context/summary.ts"
import { pruneSettings } from "../../context/prune/settings.ts"
import type { PruneOptions } from "../../context/prune/settings.ts"
import { SessionError } from "../../format/errors.ts"
import type { KeepRule } from "../plan/cut-point.ts"
import { checkGroups, counterOf, KEEPS, lastWord, MAX_FAILURES, TRIGGERS } from "./levels.ts"
import type { Levels } from "./levels.ts"
import { PRESETS } from "./presets.ts"
import type { CompactionPreset } from "./presets.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import type { Summarize } from "../types.ts"
import { checkWindows } from "./windows.ts"
import type { WindowTable } from "./windows.ts"

export interface CompactionSettings {
  /** Stands beneath the other settings of its level; see {@link PRESETS}. */
  readonly preset?: CompactionPreset
  /** False: only `compact()` by hand. Default true. */
  readonly enabled?: boolean
  /** The caller's model. With it here, `turn` compacts by itself before and after its function. */
  readonly summarize?: Summarize
  /** Milliseconds that one answer of the summarizer may take. Default 300,000. */
  readonly timeout?: number

  /** Tokens of the model's window; wins over `windows` and the table of models. */
  readonly contextWindow?: number
  /** Rows for the table of windows: by the beginning of a model's name, in tokens. */
  readonly windows?: WindowTable
  /** Tokens of one message; default: an estimate, four UTF-16 units a token. */
  readonly countTokens?: TokenCounter

  // One of these three a level: when it is time.
  /** Tokens kept free for the answer: it is time when the context has more than the window less these. Default 16,384, in a small window no more than a quarter of it. */
  readonly reserveTokens?: number
  /** It is time when the context has so many tokens. */
  readonly thresholdTokens?: number
  /** It is time when the context has this share of the window, more than 0 and at most 1. */
  readonly thresholdShare?: number

  // One of these three a level: what stays as it is.
  /**
   * At least so many of the newest tokens. Default 20,000, but no more than a third of what the context has when it is time; 0 keeps
   * nothing.
   */
  readonly keepRecentTokens?: number
  /** At least so many of the newest turns. 0 keeps nothing. */
  readonly keepTurns?: number
  /** At least so many of the newest messages. 0 keeps nothing. */
  readonly keepMessages?: number

  /** Messages since the last compaction below which nothing is compacted by itself. Default 0. */
  readonly minMessages?: number
  /**
   * Asked of the summarizer. Default: 0.8 of `reserveTokens`, or of half the summarizer's window where that is less; a split turn's
   * beginning gets 0.5 of it at most.
   */
  readonly maxSummaryTokens?: number
  /**
   * How what does not fit the summarizer's window is summarized, or what the summarizer finds too long; either way it is cut between
   * rounds (what was said, the answer, the results of its calls) into as many requests as it takes. False: one summary, which each
   * request brings up to date with its messages. True: each request gives a summary of its own messages, in a `<context_summary>`
   * block, also where there is only one. Default false.
   */
  readonly rounds?: boolean
  /** Tokens that the summarizer takes, its answer among them. Default: the window of the session's model. */
  readonly summarizerWindow?: number
  /** Handed to the summarizer. Default: none, the model's own. */
  readonly temperature?: number
  /** How the summary stands in the context; kept in the log with the summary. Default `"user"`. */
  readonly summaryAs?: SummaryStyle
  /** Failures in a row after which nothing is compacted by itself any more. Default 3. */
  readonly maxFailures?: number
  /**
   * What `context()` does to old tool results where it is not told, and what counts as the context here. By shares of the window that
   * `context()` is given, else of this one's. Default false.
   */
  readonly prune?: boolean | PruneOptions
}

export type TriggerRule =
  | { readonly kind: "reserve"; readonly tokens: number }
  | { readonly kind: "tokens"; readonly tokens: number }
  | { readonly kind: "share"; readonly share: number }

/** The settings of all levels together, checked; undefined is what nobody has said. See `inWindow`. */
export interface ResolvedSettings {
  readonly enabled: boolean
  readonly summarize: Summarize | undefined
  readonly timeout: number
  readonly contextWindow: number | undefined
  readonly windows: WindowTable
  readonly countTokens: TokenCounter | undefined
  readonly trigger: TriggerRule | undefined
  readonly reserveTokens: number | undefined
  readonly keep: KeepRule | undefined
  readonly keepRecentTokens: number | undefined
  readonly minMessages: number
  readonly maxSummaryTokens: number | undefined
  readonly rounds: boolean
  readonly summarizerWindow: number | undefined
  readonly temperature: number | undefined
  readonly summaryAs: SummaryStyle
  readonly maxFailures: number
  readonly prune: boolean | PruneOptions
}

/** Long summaries of large models take minutes; a connection that hangs takes for ever. */
export const SUMMARIZER_TIMEOUT = 300_000
/** The levels, the weakest first. Throws `invalid`. */
export function resolveSettings(...levels: Levels): ResolvedSettings {
  const given = levels.flatMap((level) => (level === undefined ? [] : expandPreset(checkLevel(level))))
  const last = <K extends keyof CompactionSettings>(key: K): CompactionSettings[K] | undefined => lastWord(given, key)
  return {
    enabled: last("enabled") ?? true,
    summarize: last("summarize"),
    timeout: last("timeout") ?? SUMMARIZER_TIMEOUT,
    contextWindow: last("contextWindow"),
    windows: Object.assign({}, ...given.map(({ windows }) => windows)) as WindowTable,
    countTokens: counterOf(given),
    trigger: triggerOf(given),
    reserveTokens: saidOf(given, "reserveTokens"),
    keep: keepOf(given),
    keepRecentTokens: saidOf(given, "keepRecentTokens"),
    minMessages: last("minMessages") ?? 0,
    maxSummaryTokens: last("maxSummaryTokens"),
    rounds: last("rounds") ?? false,
    summarizerWindow: last("summarizerWindow"),
    temperature: last("temperature"),
    summaryAs: last("summaryAs") ?? "user",
    maxFailures: last("maxFailures") ?? MAX_FAILURES,
    prune: last("prune") ?? false,
  }
}

/** Throws `invalid` for a level that cannot mean anything. */
export function checkLevel(level: CompactionSettings): CompactionSettings {
  checkGroups(level)
  for (const [key, [says, holds]] of Object.entries(RULES)) {
    const value = level[key as keyof typeof RULES] as unknown
    if (value === undefined || holds(value)) continue
    throw new SessionError("invalid", `${key} must be ${says}, not ${shown(value)}.`)
  }
  if (level.windows !== undefined) checkWindows(level.windows)
  if (typeof level.prune === "object") pruneSettings(level.prune)
  return level
}

type Rule = readonly [says: string, holds: (value: unknown) => boolean]

const isNumber = (value: unknown): value is number => typeof value === "number" && !Number.isNaN(value)
const FROM_0: Rule = ["a number from 0", (value) => isNumber(value) && value >= 0]
const ABOVE_0: Rule = ["a number above 0", (value) => isNumber(value) && value > 0]
const WHOLE_FROM_0: Rule = ["a whole number from 0", (value) => Number.isSafeInteger(value) && (value as number) >= 0]
const WHOLE_FROM_1: Rule = ["a whole number from 1", (value) => Number.isSafeInteger(value) && (value as number) >= 1]
const FUNCTION: Rule = ["a function", (value) => typeof value === "function"]

const RULES: Readonly<Record<Exclude<keyof CompactionSettings, "windows">, Rule>> = {
  preset: [
    `one of ${Object.keys(PRESETS).join(", ")}`,
    (value) => typeof value === "string" && Object.hasOwn(PRESETS, value),
  ],
  enabled: ["true or false", (value) => typeof value === "boolean"],
  summarize: FUNCTION,
  timeout: ABOVE_0,
  contextWindow: ABOVE_0,
  countTokens: FUNCTION,
  reserveTokens: FROM_0,
  thresholdTokens: ABOVE_0,
  thresholdShare: ["more than 0 and at most 1", (value) => isNumber(value) && value > 0 && value <= 1],
  keepRecentTokens: FROM_0,
  keepTurns: WHOLE_FROM_0,
  keepMessages: WHOLE_FROM_0,
  minMessages: WHOLE_FROM_0,
  maxSummaryTokens: WHOLE_FROM_1,
  rounds: ["true or false", (value) => typeof value === "boolean"],
  summarizerWindow: ABOVE_0,
  temperature: FROM_0,
  summaryAs: ['"user" or "pair"', (value) => value === "user" || value === "pair"],
  maxFailures: WHOLE_FROM_1,
  prune: [
    "true, false or options of pruning",
    (value) => typeof value === "boolean" || (typeof value === "object" && value !== null),
  ],
}

/** A preset gives way to what its own level says, group by group. */
function expandPreset(level: CompactionSettings): CompactionSettings[] {
  return level.preset === undefined ? [level] : [PRESETS[level.preset], level]
}

/** The numbers of the preset that has none of its own are the defaults. */
function isSaid(level: CompactionSettings | undefined): level is CompactionSettings {
  return level !== undefined && level !== PRESETS.reserve
}

function saidOf(levels: readonly CompactionSettings[], key: "reserveTokens" | "keepRecentTokens"): number | undefined {
  const level = levels.findLast((one) => one[key] !== undefined)
  return isSaid(level) ? level[key] : undefined
}

/** The last level that says when decides by which of the three rules. */
function triggerOf(levels: readonly CompactionSettings[]): TriggerRule | undefined {
  const level = levels.findLast((one) => TRIGGERS.some((key) => one[key] !== undefined))
  if (!isSaid(level)) return undefined
  if (level.reserveTokens !== undefined) return { kind: "reserve", tokens: level.reserveTokens }
  if (level.thresholdTokens !== undefined) return { kind: "tokens", tokens: level.thresholdTokens }
  return level.thresholdShare === undefined ? undefined : { kind: "share", share: level.thresholdShare }
}

function keepOf(levels: readonly CompactionSettings[]): KeepRule | undefined {
  const level = levels.findLast((one) => KEEPS.some((key) => one[key] !== undefined))
  if (!isSaid(level)) return undefined
  if (level.keepRecentTokens !== undefined) return { kind: "tokens", count: level.keepRecentTokens }
  if (level.keepTurns !== undefined) return { kind: "turns", count: level.keepTurns }
  return level.keepMessages === undefined ? undefined : { kind: "messages", count: level.keepMessages }
}

function shown(value: unknown): string {
  return typeof value === "string" ? JSON.stringify(value) : String(value)
}
