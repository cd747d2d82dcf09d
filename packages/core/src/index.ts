/**
 * The sessions of AI agents, kept as append-only logs. Start with {@link createSessions}.
 *
 * This entry has the functions that an application calls and the types that it writes down, at most 75 names. Other uses have entries of
 * their own: `/compaction` (its calls, which take a session, and the values for `createSessions` and `context`), `/transfer` (the calls on whole
 * sessions: import, export, fork, copy, merge, verify, retention, the tree), `/migrations` (older logs), `/storage` (to write an adapter), `/format` (to
 * process logs), `/context` (the steps of a context as pure functions). No name is in two entries; a test holds the list. This entry imports nothing of
 * the first three.
 */

// The repository of a storage: creates, opens, lists and deletes sessions.
export { createSessions } from "./session/repository.ts"
export type { BlobLimits } from "./format/blobs.ts"
export type { ReadWindow } from "./log/read-backwards.ts"
export type { Hooks } from "./session/hooks.ts"
export type {
  CreateOptions,
  Draft,
  ListOptions,
  OpenOptions,
  SessionPage,
  Sessions,
  SessionsOptions,
} from "./session/repository-types.ts"
export type { SessionMetrics } from "./info/metrics.ts"
export type { SessionInfo } from "./info/projection.ts"

// One open session: appending, turns, branches, reading, events.
export type {
  BranchSummary,
  HistoryMessage,
  MessagesOptions,
  MessagesPage,
  Session,
  SessionPart,
  TurnContext,
} from "./session/types.ts"
export type { SessionEvents } from "./session/events.ts"
export type { OpenTip, OpenTips } from "./log/projected-tips.ts"
export type { Divergence } from "./log/diverged.ts"
export type { AppendOptions, AppendResult, ConflictPolicy } from "./write/types.ts"

// The context that a model gets, and its size in tokens.
export type { ContextOptions } from "./session/types.ts"
export type {
  ContextMessage,
  ContextMessageKind,
  PrunedResult,
  RepairMode,
  SessionContext,
  SummaryStyle,
} from "./context/types.ts"
export { estimateMessage, estimateMessages } from "./format/tokens.ts"
export type { TokenCounter } from "./format/tokens.ts"

// The values of `@sessions/core/compaction` as a session sees them: `automaticCompaction` and `shorten` make them.
export type { Compaction } from "./session/compaction.ts"
export type { Shortening } from "./context/shortening.ts"

// The values of `@sessions/core/migrations` as `createSessions` sees them: `piLogs` is one.
export type { LogReader } from "./log/log-reader.ts"

// Records that an application appends and shows: entries, messages and their blocks.
export type { Entry, EntryType, KnownEntry, ModelRef, AnyOwnEntry, OwnEntry } from "./format/entry.ts"
export type { Header, ParentSession } from "./format/header.ts"
export type { NewEntry, NewMessage } from "./format/new-entry.ts"
export type {
  AssistantMessage,
  Attachment,
  ContentBlock,
  CustomRoleMessage,
  FileBlock,
  ImageBlock,
  Message,
  ModelMessage,
  SystemMessage,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./format/message.ts"
export type { Diagnostic, DiagnosticCode } from "./format/diagnostics.ts"

// Errors, with their codes. `SessionError` is a class so that hooks can throw it.
export { hasCode, httpStatus, SessionError } from "./format/errors.ts"
export type { ErrorCode, SessionErrorCode, SessionErrorDetails } from "./format/errors.ts"
