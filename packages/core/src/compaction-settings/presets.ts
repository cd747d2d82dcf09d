/** The presets: four common ways of compaction, by name. */
import { shorten } from "../context/prune/prune.ts"
import { TOOL_RESULT_BUDGET } from "../context/prune/settings.ts"
import type { CompactionPreset, CompactionSettings } from "./types.ts"

/**
 * | preset | compacts at | keeps | other settings |
 * |---|---|---|---|
 * | `"reserve"` (default) | more than the window less 16,384 | 20,000 tokens | a split turn's beginning is summarized separately |
 * | `"threshold-100k"` | 100,000 tokens | nothing | summaries of 4,096 tokens |
 * | `"share-80"` | 0.8 of the window | the last 4 turns | from 6 messages on, 4,096 tokens, temperature 0.3, the summary as a pair of messages, pruning |
 * | `"share-90"` | 0.9 of the window | the last 10 messages | round by round, temperature 0, tool results 50,000 characters together |
 */
export const PRESETS: Readonly<Record<CompactionPreset, CompactionSettings>> = {
  reserve: { reserveTokens: 16_384, keepRecentTokens: 20_000 },
  "threshold-100k": { thresholdTokens: 100_000, keepMessages: 0, maxSummaryTokens: 4_096 },
  "share-80": {
    thresholdShare: 0.8,
    keepTurns: 4,
    minMessages: 6,
    maxSummaryTokens: 4_096,
    temperature: 0.3,
    summaryAs: "pair",
    shorten: shorten(),
  },
  "share-90": {
    thresholdShare: 0.9,
    keepMessages: 10,
    rounds: true,
    temperature: 0,
    shorten: shorten({ softTrimShare: false, hardClearShare: false, toolResultBudget: TOOL_RESULT_BUDGET }),
  },
}
