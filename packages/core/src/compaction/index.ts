/**
 * What a compaction is made of, as pure functions: when it is time, where it cuts, what the summarizer is asked, what is stored of its
 * answer. `Session.compact()` does all of it. An entry of its own, because a bundle has whatever its entries name, and a page that
 * opens sessions loads this when it compacts.
 */
export { branchPrompt, commonAncestor, prepareBranchSummary, storedBranchSummary } from "./branch-summary.ts"
export type { AbandonedBranch } from "./branch-summary.ts"
export { findCutPoint } from "./cut-point.ts"
export type { CutOptions, CutPoint, KeepRule } from "./cut-point.ts"
export type { FileLists } from "./files.ts"
export { halveGroup, joinGroups, planGroups, roundsOf } from "./groups.ts"
export type { MessageGroup } from "./groups.ts"
export { prepareCompaction, tokensWithSummary } from "./prepare.ts"
export type { NothingToCut, PreparedCompaction, PrepareOptions } from "./prepare.ts"
export { PRESETS } from "./presets.ts"
export type { CompactionPreset } from "./presets.ts"
export {
  BRANCH_SUMMARY_PROMPT,
  FIRST_SUMMARY_PROMPT,
  missingHeadings,
  SUMMARY_HEADINGS,
  SUMMARY_SYSTEM_PROMPT,
  TURN_PREFIX_PROMPT,
  UPDATE_SUMMARY_PROMPT,
} from "./prompts.ts"
export { askForSummaries, compactionPrompts, storedSummary } from "./requests.ts"
export type { AskSummarizer, GroupOptions, SummaryPart, SummaryParts } from "./requests.ts"
export { serializeConversation } from "./serialize.ts"
export type { CompactionSettings } from "./settings.ts"
export type { TokenCounter } from "./tokens.ts"
export { isTooLong } from "./too-long.ts"
export { shouldCompact } from "./trigger.ts"
export { windowOf, WINDOWS } from "./windows.ts"
export type { WindowTable } from "./windows.ts"
