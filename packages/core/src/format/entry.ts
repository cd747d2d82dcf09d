/**
 * The entries of a log, version 4: every line but the header. `docs/format.md` describes the meaning of each field. Unknown fields and entry types
 * are kept whenever an entry is read, copied or written. What core knows of a type beside its fields is in `entry-types.ts`.
 */
import type { ContentBlock, Message, Namespaced, SystemMessage, Usage } from "./message.ts"

export interface EntryBase {
  readonly id: string
  /** Null for a root. */
  readonly parentId: string | null
  /** The entry's index in its log; the header is 0. Redundant: if it differs from the line's index, the line's index counts. */
  readonly seq: number
  /** ISO 8601. */
  readonly timestamp: string
  /** ISO 8601: when the line was written, if that is more than a day after its entry's own time, as by a merge. */
  readonly writtenAt?: string
  /** JSON pointers to the strings of this entry that were replaced by `blob:sha256:<64 hex>`, with the encoding of each blob. */
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
  /** False: hidden from people. The model sees it in both cases. */
  readonly display: boolean
  /** Never goes to a model. */
  readonly details?: unknown
}

export interface ModelRef {
  readonly provider: string
  readonly model: string
}

/** The state that the path up to an entry projects to; see `docs/context.md`. */
export interface ContextState {
  readonly thinkingLevel: string
  /** By role; `default` is missing until a model is known. */
  readonly models: { readonly [role: string]: ModelRef }
  /** Whether a model_change set `models.default`; if not, each assistant message's model replaces it. */
  readonly modelIsExplicit: boolean
  readonly mode: string
  readonly modeData?: unknown
  readonly injectedTtsrRules: readonly string[]
  readonly systemPromptOverride?: string
}

/** A copy of a system message, with its latest edit. */
export interface IncludedMessage {
  /** Id of the copied entry. */
  readonly id: string
  readonly message: SystemMessage
}

/** Sizes of requests, as the reports and the refusals of providers show them. Units are those of the estimate. */
export interface Calibration {
  /** Tokens of what no entry shows, such as the program's prompt and its tools. */
  readonly overhead?: number
  /** Messages that providers have measured: their tokens and their units. */
  readonly measured?: { readonly tokens: number; readonly units: number }
  /** By the name of the model. */
  readonly limits?: { readonly [model: string]: TaughtLimits }
}

/** Sizes that a model has accepted and refused. */
export interface TaughtLimits {
  /** Size of the smallest request that it has refused as too long without a count. */
  readonly units?: number
  /** Tokens of the smallest request that it has refused with a count. */
  readonly count?: number
  /** Tokens of the largest request that it has accepted since. */
  readonly accepted?: number
  /** Bytes of the smallest request that it has refused for them, and of the largest that it has accepted since. */
  readonly bytes?: number
  readonly acceptedBytes?: number
  /** The most images that it takes, as a refusal has named it. */
  readonly images?: number
}

export interface CompactionEntry extends EntryBase {
  readonly type: "compaction"
  readonly summary: string
  readonly shortSummary?: string
  /** Its own id: nothing before it is kept. */
  readonly firstKeptEntryId: string
  /** Seq of that entry; a hint, checked by the id. */
  readonly firstKeptSeq?: number
  readonly tokensBefore: number
  readonly tokensSummarized?: number
  /** `"pair"`: the context shows it as a user message and an answer to it. `"user"` or missing: as one user message. */
  readonly summaryAs?: "user" | "pair"
  /** Entries that were deleted or edited, and which the summary still says: it was built on one from before. */
  readonly outdated?: readonly string[]
  readonly readFiles: readonly string[]
  readonly modifiedFiles: readonly string[]
  readonly details?: unknown
  readonly preserveData?: unknown
  readonly fromExtension?: boolean
  readonly usage?: Usage
  /** The system messages before the kept part, oldest first: they stay in the context, before the summary. */
  readonly system?: readonly IncludedMessage[]
  /** The question that the model was working on, if it is before the kept part: it stays in the context, behind the summary. */
  readonly question?: { readonly id: string; readonly message: Message }
  /** Missing in older logs: the state is then projected from entries further back. */
  readonly state?: ContextState
  /** Reports of providers before it. Missing: nothing, or it was made by another program. */
  readonly ruler?: Calibration
}
export interface BranchSummaryEntry extends EntryBase {
  readonly type: "branch_summary"
  /** The leaf that was left, or "root". */
  readonly fromId: string
  readonly summary: string
  readonly details?: unknown
  readonly fromExtension?: boolean
  readonly usage?: Usage
  /** The same as that of a leaf. */
  readonly settles?: readonly string[]
}
export interface ContextEditEntry extends EntryBase {
  readonly type: "context_edit"
  readonly targetId: string
  /** Seq of the target; a hint, checked by the id. */
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
  /** The same as that of a compaction. */
  readonly state?: ContextState
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
/** Records a branch or a reset: its `parentId` is the branch target, or null after a reset. */
export interface LeafEntry extends EntryBase {
  readonly type: "leaf"
  /** Seq of the target; a hint, checked by the id. */
  readonly targetSeq?: number
  /** Ids of the ends of branches that its writer left knowingly. Missing in older logs. */
  readonly settles?: readonly string[]
}
/** A provider has refused the context at its parent as too long. */
export interface ContextRefusalEntry extends EntryBase {
  readonly type: "context_refusal"
  /** The limit that was exceeded. */
  readonly kind: "tokens" | "bytes" | "images"
  readonly provider?: string
  readonly model?: string
  /** The estimate of the refused messages. */
  readonly units: number
  /** UTF-8 bytes of the refused messages as JSON. */
  readonly bytes: number
  /** Tokens or images of the request, if the provider has named them. */
  readonly count?: number
  /** The most images of a request, if the provider has named it. */
  readonly limit?: number
}
/**
 * A step to make room for a context that was too large. Most change how later contexts show the messages before it: `"results"` shortens
 * results of tools, `"images"` puts texts in the place of images and files, `"cut"` cuts long messages, `"left_out"` leaves messages out.
 * `"failed"` (a summary that was asked for) and `"end"` (of what can be done) have changed nothing.
 */
export interface ContextStepEntry extends EntryBase {
  readonly type: "context_step"
  readonly step: "results" | "images" | "cut" | "left_out" | "failed" | "end"
  /** At the end: the model that has refused. */
  readonly provider?: string
  readonly model?: string
  /**
   * By the estimate. With `"cut"`: what a message keeps at most. With `"failed"`: the messages that were too many. With `"end"`: the smallest form
   * of what was refused.
   */
  readonly units?: number
  /** The last entry that a step is for, with those before it: of `"results"`, `"images"` and `"cut"`. */
  readonly upTo?: string
  /** With `"images"`: the entry of a question whose images stay. */
  readonly except?: string
  /** With `"left_out"`: the entries. */
  readonly ids?: readonly string[]
  /** The window in tokens. The step holds as long as that in force is not larger. */
  readonly window?: number
}
/** The tools of the turn that it is written in. Written behind the turn's question, in the same batch. */
export interface ToolPolicyEntry extends EntryBase {
  readonly type: "tool_policy"
  /** Names of the tools that must not be repeated: each of their calls has a `tool_start` before it runs. */
  readonly never: readonly string[]
  /** Names of the tools that may be repeated: their calls have no `tool_start`. */
  readonly safe: readonly string[]
}
/** A tool call is about to run. Its id is `<targetId>.<call>.<attempt>`, so that of several writers one can write it. */
export interface ToolStartEntry extends EntryBase {
  readonly type: "tool_start"
  /** The entry of the assistant message with the call. */
  readonly targetId: string
  /** Seq of the target; a hint, checked by the id. */
  readonly targetSeq?: number
  readonly callId: string
  /** Place of the call among those of its message, from 0: an id may occur there twice. */
  readonly call: number
  readonly toolName: string
  /** From 1. */
  readonly attempt: number
  /** For receivers that recognize a repeated request by a key. The same in every attempt. */
  readonly key: string
  /** Unique for each execution that was asked for: only its own process takes the start for its own. */
  readonly run: string
  /** Fence of the turn that it was started in, if that has a lease. */
  readonly fence?: number
}
/** A turn with a lease begins: from here on nothing is appended by turns that had the lease before. */
export interface FenceEntry extends EntryBase {
  readonly type: "fence"
  /** Grows with each turn that takes the lease. */
  readonly fence: number
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
  | ContextRefusalEntry
  | ContextStepEntry
  | ToolPolicyEntry
  | ToolStartEntry
  | FenceEntry
  | CustomEntry

/** The fields of an entry type of an application. Its name has a namespace, or is one of the repository's `extensions`. */
export interface OwnEntry {
  readonly type: string
}
/** The fields of entry types that an application has not declared. */
export interface AnyOwnEntry extends OwnEntry {
  readonly type: Namespaced
  readonly [key: string]: unknown
}
/**
 * An entry of an unknown type: kept unchanged, part of the tree, never in the context. Stored logs also have types without a namespace; the
 * type leaves them out, so that `entry.type === "message"` narrows the union.
 */
export type UnknownEntry = EntryBase & AnyOwnEntry
/** Any entry. `Own` is the union of the entry types that the application declares. */
export type Entry<Own extends OwnEntry = AnyOwnEntry> = KnownEntry | (EntryBase & Own)
export type EntryType = KnownEntry["type"]
