/** The sessions of AI agents, kept as append-only logs. Start with {@link createSessions}. */
export { createSessions } from "./session/repository.ts"
export type { SessionsOptions } from "./session/options.ts"
export type { ReadWindow } from "./log/read-backwards.ts"
export type * from "./session/types.ts"
export type { SessionEvents } from "./session/events.ts"
export type { Hooks } from "./session/hooks.ts"
export type { SessionInfo } from "./info/projection.ts"
export type { SessionMetrics } from "./info/metrics.ts"
export type { AppendOptions, AppendResult, ConflictPolicy, Divergence, PersistAfter } from "./write/types.ts"
export type * from "./compaction/types.ts"
export { httpStatus, SessionError } from "./format/errors.ts"
export type { ErrorCode, SessionErrorCode, SessionErrorDetails } from "./format/errors.ts"
export * from "./format/index.ts"
export { collectBlobs } from "./storage/collect.ts"
export type { CollectedBlobs, CollectOptions } from "./storage/collect.ts"
export { hasCode, StorageError } from "./storage/errors.ts"
export type { StorageErrorCode, StorageErrorDetails } from "./storage/errors.ts"
export type {
  CallOptions,
  Capabilities,
  Deleted,
  Head,
  HeadInfo,
  PartInfo,
  Seq,
  SessionStorage,
} from "./storage/contract.ts"
export { toModelMessages } from "./context/model-messages.ts"
export { repairMessages } from "./context/repair.ts"
export type { PruneOptions } from "./context/prune/settings.ts"
export { findRepeatedCall, REPEATED_CALLS } from "./context/repeated-call.ts"
export type { RepeatedCall } from "./context/repeated-call.ts"
export type * from "./context/types.ts"
export { foldState, initialState } from "./context/state.ts"
export type { CompactionPreset } from "./compaction/types.ts"
export type { CompactionSettings } from "./compaction/types.ts"
export { estimateMessage, estimateMessages } from "./format/tokens.ts"
export type { TokenCounter } from "./format/tokens.ts"
export type { WindowTable } from "./compaction/settings/windows.ts"
export { EntryLog } from "./log/entry-log.ts"
export type { EntrySlot } from "./log/entry-log.ts"
export type { TreeNode } from "./log/nodes.ts"
export { identifyLog } from "./format/identify.ts"
export type * from "./transfer/older/index.ts"
