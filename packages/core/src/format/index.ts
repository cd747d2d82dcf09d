/** The format of a log as functions, for programs that process logs without a repository. Describes version 4, `docs/format.md`. */

// The records of a line. The main entry has the types that an application appends and shows.
export { ANNOTATION_TYPES, FORMAT, VERSION } from "./entry.ts"
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
  Origin,
  ResetBoundaryEntry,
  SessionInitEntry,
  ThinkingLevelChangeEntry,
  TitleChangeEntry,
  TombstoneEntry,
  TtsrInjectionEntry,
  UnknownEntry,
  UsageEntry,
} from "./entry.ts"
export type { KnownBlock, UnknownBlock } from "./message.ts"

// Checks of parsed records.
export { entryProblem, headerProblem, isEntry, isHeader, messageProblem } from "./guards.ts"

// Lines: framing, parsing, encoding.
export { encodeLines, readLines } from "./jsonl.ts"
export type { LongLine, ReadLine, ReadLinesOptions, TextLine, UnreadableLine } from "./jsonl.ts"
export { encodeEntry, encodeHeader, parseLine } from "./line.ts"
export type { LogRecord, ParsedLine } from "./line.ts"
export { identifyLog } from "./identify.ts"
export type { LogIdentity, OlderFormat, OlderVersion } from "./identify.ts"

// New entries, as an append checks and completes them.
export { createIds, isUlid, ulidAt } from "./ids.ts"
export { normalizeNewEntry, placeEntry } from "./normalize.ts"
export type { EntryPlace } from "./normalize.ts"
export type {
  EntryPayload,
  NewContent,
  NewContextEditEntry,
  NewCustomMessageEntry,
  NewEntryBase,
  NewMessageEntry,
  NewUnknownEntry,
} from "./new-entry.ts"

// Long strings and images: moved to the blob store and back, or cut.
export { applyBlobs, blobRefs, planBlobs, restoreBlobs } from "./blobs.ts"
export type { BlobEncoding, BlobRef, PlannedBlob, RefOptions, Restored } from "./blobs.ts"
export { truncateOversize } from "./text.ts"
export type { TruncateLimits } from "./text.ts"
export {
  BLOB_IMAGE_CHARS,
  BLOB_TEXT_UNITS,
  FIRST_PROMPT_UNITS,
  FULL_SESSION_SLACK_BYTES,
  MAX_ATTACHMENTS,
  TRUNCATED_TEXT_UNITS,
  TRUNCATION_NOTICE,
} from "./limits.ts"

// The entries of a log in memory: the tree, a path and the state of a path.
export { EntryLog } from "../log/entry-log.ts"
export type { EntrySlot } from "../log/entry-log.ts"
export { foldState, initialState } from "../context/state.ts"
