/**
 * The records of a session log, version 4: line 0 is the header, every other line is an entry. `docs/format.md` says what each
 * means. Fields that these types do not name are kept wherever a record is read, moved or written.
 */
import type { ContentBlock, Message, Usage } from "./messages.ts"

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue }

export const FORMAT = "@sessions"
export const VERSION = 4

/** Where a session came from: another of ours (`id`, and the entry it was forked at), or another system's own text for it. */
export type ParentSession = { readonly id: string; readonly entryId?: string } | { readonly ref: string }

/** What a log was imported, migrated or forked from. */
export interface Origin {
  /** The system, e.g. `@sessions`, `pi`, `oh-my-pi`. */
  readonly format: string
  readonly version: number
  /** The id it had there. */
  readonly id?: string
  /** How many lines there must be, header included, where they were written in several batches. */
  readonly lines?: number
  /** The log as it was before a migration: blobs whose bytes, joined, are the old file. */
  readonly backup?: { readonly blobs: readonly string[]; readonly bytes: number }
}

export interface Header {
  readonly type: "session"
  readonly format: typeof FORMAT
  readonly version: typeof VERSION
  readonly id: string
  /** ISO 8601. */
  readonly timestamp: string
  readonly cwd?: string
  readonly title?: string
  readonly source?: "interactive" | "cron"
  readonly cronJobId?: string
  readonly parentSession?: ParentSession
  readonly systemPromptOverride?: string
  readonly origin?: Origin
  readonly [key: string]: unknown
}

export interface EntryBase {
  readonly id: string
  /** Null for a root. */
  readonly parentId: string | null
  /** The entry's index in its log; the header is 0. A check: where it differs from the line's place, the place counts. */
  readonly seq: number
  /** ISO 8601. */
  readonly timestamp: string
  /** What moved out of this line: JSON pointers into the entry, each naming a place that holds `blob:sha256:<64 hex>`. */
  readonly blobs?: { readonly [pointer: string]: "utf8" | "base64" }
  readonly [key: string]: unknown
}

export interface MessageEntry extends EntryBase {
  readonly type: "message"
  readonly message: Message
}
export interface CustomMessageEntry extends EntryBase {
  readonly type: "custom_message"
  readonly customType: string
  readonly content: readonly ContentBlock[]
  /** False: hidden from people. The model sees it either way. */
  readonly display: boolean
  /** Never goes to a model. */
  readonly details?: unknown
}

export interface ModelRef {
  readonly provider: string
  readonly model: string
}

/** What the path up to an entry folds to; see `docs/context.md`. */
export interface ContextState {
  readonly thinkingLevel: string
  /** By role; `default` is there when a model_change set it. */
  readonly models: { readonly [role: string]: ModelRef }
  /** Whether `models.default` was set by a model_change; else an assistant message's model moves it. */
  readonly modelIsExplicit: boolean
  readonly mode: string
  readonly modeData?: unknown
  readonly injectedTtsrRules: readonly string[]
  readonly systemPromptOverride?: string
}

export interface CompactionEntry extends EntryBase {
  readonly type: "compaction"
  readonly summary: string
  readonly shortSummary?: string
  /** Its own id: nothing before it is kept. */
  readonly firstKeptEntryId: string
  /** Place of that entry; a hint, checked by the id. */
  readonly firstKeptSeq?: number
  readonly tokensBefore: number
  readonly tokensSummarized?: number
  /** `"pair"`: in the context it is a user message and an answer to it. Missing: one user message. */
  readonly summaryAs?: "user" | "pair"
  readonly readFiles: readonly string[]
  readonly modifiedFiles: readonly string[]
  readonly details?: unknown
  readonly preserveData?: unknown
  readonly fromExtension?: boolean
  readonly usage?: Usage
  /** Missing in older logs: the state is folded from further back. */
  readonly state?: ContextState
}
export interface BranchSummaryEntry extends EntryBase {
  readonly type: "branch_summary"
  /** The abandoned leaf, or "root". */
  readonly fromId: string
  readonly summary: string
  readonly details?: unknown
  readonly fromExtension?: boolean
  readonly usage?: Usage
}
export interface ContextEditEntry extends EntryBase {
  readonly type: "context_edit"
  readonly targetId: string
  /** Place of the target; a hint, checked by the id. */
  readonly targetSeq?: number
  /** Null leaves the target out of the context. */
  readonly replacement: null | { readonly content: readonly ContentBlock[]; readonly [key: string]: unknown }
}
export interface TombstoneEntry extends EntryBase {
  readonly type: "tombstone"
  readonly targetId: string
  readonly targetSeq?: number
}
export interface ResetBoundaryEntry extends EntryBase {
  readonly type: "reset_boundary"
}
export interface ModelChangeEntry extends EntryBase {
  readonly type: "model_change"
  readonly provider: string
  readonly model: string
  /** Missing: "default". */
  readonly role?: string
}
export interface ThinkingLevelChangeEntry extends EntryBase {
  readonly type: "thinking_level_change"
  readonly thinkingLevel: string
}
export interface ModeChangeEntry extends EntryBase {
  readonly type: "mode_change"
  readonly mode: string
  readonly data?: unknown
}
export interface TtsrInjectionEntry extends EntryBase {
  readonly type: "ttsr_injection"
  readonly injectedRules: readonly string[]
}
export interface SessionInitEntry extends EntryBase {
  readonly type: "session_init"
  readonly systemPrompt: string
  readonly task?: string
  readonly tools: readonly unknown[]
  readonly outputSchema?: unknown
}
export interface LabelEntry extends EntryBase {
  readonly type: "label"
  readonly targetId: string
  readonly targetSeq?: number
  /** Missing clears. */
  readonly label?: string
}
export interface TitleChangeEntry extends EntryBase {
  readonly type: "title_change"
  /** Null clears. */
  readonly title: string | null
  /** A user title wins over an auto title whatever their order. */
  readonly source: "user" | "auto"
}
export interface MetadataEntry extends EntryBase {
  readonly type: "metadata"
  readonly key: string
  readonly value: unknown
}
export interface UsageEntry extends EntryBase {
  readonly type: "usage"
  readonly kind: string
  readonly provider?: string
  readonly model?: string
  readonly usage: Usage
}
export interface FileSnapshotEntry extends EntryBase {
  readonly type: "file_snapshot"
  readonly messageId: string
  readonly files: { readonly [path: string]: { readonly blob: string | null; readonly version: number } }
}
/** Branching and resetting made lasting: its `parentId` is the branch target (null after a reset). */
export interface LeafEntry extends EntryBase {
  readonly type: "leaf"
  /** Place of the target; a hint, checked by the id. */
  readonly targetSeq?: number
}
export interface CustomEntry extends EntryBase {
  readonly type: "custom"
  readonly customType: string
  readonly data?: unknown
}

export type KnownEntry =
  | MessageEntry
  | CustomMessageEntry
  | CompactionEntry
  | BranchSummaryEntry
  | ContextEditEntry
  | TombstoneEntry
  | ResetBoundaryEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | ModeChangeEntry
  | TtsrInjectionEntry
  | SessionInitEntry
  | LabelEntry
  | TitleChangeEntry
  | MetadataEntry
  | UsageEntry
  | FileSnapshotEntry
  | LeafEntry
  | CustomEntry

/** An entry of a type that this version does not know: kept verbatim, part of the tree, never in the context. */
export interface UnknownEntry extends EntryBase {
  readonly type: string
}
export type Entry = KnownEntry | UnknownEntry
export type EntryType = KnownEntry["type"]

/**
 * Entries without context: naming, counting and keeping notes. They never move the active branch: another writer's are no
 * divergence, and ours hang themselves under whatever the leaf has become.
 */
export const ANNOTATION_TYPES: ReadonlySet<string> = new Set<EntryType>([
  "label",
  "title_change",
  "metadata",
  "usage",
  "tombstone",
  "file_snapshot",
  "custom",
])
