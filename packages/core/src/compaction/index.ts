/**
 * Compaction: its calls, which take an open session first, the values for the options of `createSessions` and of `context`, and the steps of
 * a compaction as pure functions. An entry of its own, so that a page that only opens sessions does not load them.
 */

// The calls.
export {
  autoCompact,
  branchWithSummary,
  compact,
  compactionStatus,
  makeRoom,
  resetCompactionBreaker,
} from "./run/calls.ts"
export type {
  AutoCompactOptions,
  BranchSummaryOptions,
  CompactionFailureKind,
  CompactionPreset,
  CompactionResult,
  CompactionSettings,
  CompactionStatus,
  CompactOptions,
  MakeRoomOptions,
  RoomResult,
  Summarize,
  SummarizeRequest,
  SummaryAnswer,
  SummaryPrompts,
} from "../compaction-settings/types.ts"

// The values for the options of `createSessions`, `create`, `open` and `context`.
export { automaticCompaction } from "./run/automatic.ts"
export { shorten } from "../context/prune/prune.ts"
export type { PruneOptions } from "../context/prune/settings.ts"
export type { ContextSettings } from "../context/settings.ts"
export type { WindowTable } from "../compaction-settings/windows.ts"

// The steps.
export { readAnswer } from "./summary/answer.ts"
export type { AnswerProblem, ReadAnswer } from "./summary/answer.ts"
export { branchPrompt, prepareBranchSummary, storedBranchSummary } from "./summary/branch-summary.ts"
export type { AbandonedBranch } from "./summary/branch-summary.ts"
export { findCutPoint } from "./plan/cut-point.ts"
export type { CutOptions, CutPoint, KeepRule } from "./plan/cut-point.ts"
export type { FileLists } from "./summary/files.ts"
export { halveGroup, joinGroups, planGroups, roundsOf } from "./summary/groups.ts"
export type { MessageGroup } from "./summary/groups.ts"
export { prepareCompaction, tokensWithSummary } from "./plan/plan-compaction.ts"
export type { NothingToCut, PreparedCompaction, PrepareOptions } from "./plan/plan-compaction.ts"
export { PRESETS } from "../compaction-settings/presets.ts"
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
export { isTooLong } from "./refusals.ts"
export { shouldCompact } from "./plan/trigger.ts"
export { DEFAULT_WINDOW, LIMITS, limitsOf, windowOf } from "../compaction-settings/windows.ts"
export type { InputLimits } from "../compaction-settings/windows.ts"
export { commonAncestor } from "../log/common-ancestor.ts"
