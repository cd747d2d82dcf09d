/**
 * The steps of a compaction as pure functions: trigger, cut point, prompts, stored summary. `Session.compact()` does all of them. A
 * separate entry point, so that a page that only opens sessions does not load them.
 */
export { readAnswer } from "./summary/answer.ts"
export type { AnswerProblem, ReadAnswer } from "./summary/answer.ts"
export { branchPrompt, prepareBranchSummary, storedBranchSummary } from "./summary/branch-summary.ts"
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
export { askForBranchSummary, askForSummaries, compactionPrompts, storedSummary } from "./summary/requests.ts"
export type { AskSummarizer, RequestOptions, SummaryPart, SummaryParts } from "./summary/requests.ts"
export { serializeConversation } from "./summary/serialize.ts"
export { nameSession } from "./run/name-session.ts"
export type { NameSessionOptions } from "./run/name-session.ts"
export { isTooLong } from "./summary/too-long.ts"
export { shouldCompact } from "./plan/trigger.ts"
export type { MakeRoomOptions, RoomResult, SummaryPrompts } from "./types.ts"
export { DEFAULT_WINDOW, LIMITS, limitsOf, windowOf } from "./settings/windows.ts"
export type { InputLimits } from "./settings/windows.ts"
export { commonAncestor } from "../log/common-ancestor.ts"
