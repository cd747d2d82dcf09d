/**
 * What a compaction is made of, as pure functions: when it is time, where it cuts, what the summarizer is asked, what is stored of its
 * answer. `Session.compact()` does all of it. An entry of its own, because a bundle has whatever its entries name, and a page that
 * opens sessions loads this when it compacts.
 */
export { branchPrompt, commonAncestor, prepareBranchSummary, storedBranchSummary } from "./summary/branch-summary.ts"
export type { AbandonedBranch } from "./summary/branch-summary.ts"
export { findCutPoint } from "./plan/cut-point.ts"
export type { CutOptions, CutPoint, KeepRule } from "./plan/cut-point.ts"
export type { FileLists } from "./summary/files.ts"
export { halveGroup, joinGroups, planGroups, roundsOf } from "./summary/groups.ts"
export type { MessageGroup } from "./summary/groups.ts"
export { prepareCompaction, tokensWithSummary } from "./plan/prepare.ts"
export type { NothingToCut, PreparedCompaction, PrepareOptions } from "./plan/prepare.ts"
export { PRESETS } from "./settings/presets.ts"
export {
  BRANCH_SUMMARY_PROMPT,
  FIRST_SUMMARY_PROMPT,
  missingHeadings,
  SUMMARY_HEADINGS,
  SUMMARY_SYSTEM_PROMPT,
  TURN_PREFIX_PROMPT,
  UPDATE_SUMMARY_PROMPT,
} from "./summary/prompts.ts"
export { askForSummaries, compactionPrompts, storedSummary } from "./summary/requests.ts"
export type { AskSummarizer, RequestOptions, SummaryPart, SummaryParts } from "./summary/requests.ts"
export { serializeConversation } from "./summary/serialize.ts"
export { isTooLong } from "./summary/too-long.ts"
export { shouldCompact } from "./plan/trigger.ts"
export { windowOf, WINDOWS } from "./settings/windows.ts"
