/** The format of a log as functions, for programs that process logs without a repository. Describes version 4, `docs/format.md`. */

// Records: their types, and checks of parsed ones. The main entry has the types that an application appends and shows.
export type {
  BranchSummaryEntry,
  CompactionEntry,
  ContextEditEntry,
  ContextState,
  CustomEntry,
  CustomMessageEntry,
  EntryBase,
  FileSnapshotEntry,
  LabelEntry,
  LeafEntry,
  MessageEntry,
  MetadataEntry,
  ModeChangeEntry,
  ModelChangeEntry,
  ResetBoundaryEntry,
  SessionInitEntry,
  ThinkingLevelChangeEntry,
  TitleChangeEntry,
  TombstoneEntry,
  TtsrInjectionEntry,
  UnknownEntry,
  UsageEntry,
} from "./entry.ts"
export { entryProblem, isEntry, isKnownEntry } from "./entry-problems.ts"
export { isAnnotationType, isNamespaced } from "./entry-types.ts"
export { FORMAT, headerProblem, isHeader, type Origin, VERSION } from "./header.ts"
export {
  isKnownBlock,
  isModelMessage,
  type KnownBlock,
  messageProblem,
  type Namespaced,
  type UnknownBlock,
} from "./message.ts"
export { textOf } from "./message-text.ts"
export { type Fields, isObject } from "./shape.ts"
export { readUsage } from "./usage.ts"

// Lines: framing, parsing, encoding.
export {
  encodeLines,
  type LongLine,
  type ReadLine,
  readLines,
  type ReadLinesOptions,
  type TextLine,
  type UnreadableLine,
} from "./jsonl.ts"
export { encodeEntry, encodeHeader, type LogRecord, type ParsedLine, parseLine } from "./line.ts"
export { isTooDeep, toJsonText } from "./deep-text.ts"
export { identifyLog, type LogIdentity, type OlderFormat, type OlderVersion } from "./identify.ts"

// The documents that say who runs the turn of a session.
export { decodeTurn, type HeldTurn, promptsKey, stateOfTurn, type TurnDocument } from "./turn-document.ts"

// Limits of requests.
export { REQUEST_LIMITS, type RequestLimits } from "./request-limits.ts"

// New entries, as an append checks and completes them.
export { ulidAt } from "./computed-ids.ts"
export { createIds, isUlid } from "./ids.ts"
export {
  type EntryPayload,
  type EntryPlace,
  type NewContent,
  type NewContextEditEntry,
  type NewCustomMessageEntry,
  type NewEntryBase,
  type NewMessageEntry,
  type NewUnknownEntry,
  normalizeNewEntry,
  placeEntry,
} from "./new-entry.ts"

// Long strings and images: moved to the blob store and back, or cut.
export {
  applyBlobs,
  type BlobEncoding,
  type BlobRef,
  type PlannedBlob,
  type RefOptions,
  type Restored,
} from "./blobs.ts"
export { blobRefs, planBlobs, restoreBlobs, truncateOversize } from "./checked.ts"
export type { TruncateLimits } from "./text.ts"
export {
  BLOB_IMAGE_CHARS,
  BLOB_TEXT_UNITS,
  FIRST_PROMPT_UNITS,
  FULL_SESSION_SLACK_BYTES,
  MAX_ATTACHMENTS,
  MAX_METADATA_BYTES,
  MAX_METADATA_KEYS,
  TRUNCATED_TEXT_UNITS,
  TRUNCATION_NOTICE,
} from "./limits.ts"

export { MAX_DEPTH } from "../storage/depth.ts"
