/**
 * What a compaction does, as pure functions: for whoever has the entries already, and asks a model in a way of its own. An entry of
 * its own, because a bundle has whatever its entries name; `Session.compact()` loads it when it is time.
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
export { isTooLong } from "./too-long.ts"
