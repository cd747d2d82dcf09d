/** The types of a context and of its messages, as `context()` returns them and the steps before it pass them on. */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message, ModelMessage } from "../format/message.ts"
import type { Entry, ModelRef } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"

export type ContextMessageKind = "message" | "custom" | "branch_summary" | "compaction" | "repair"

/** How a compaction is sent: as one user message, or as a user message and an assistant's answer to it. */
export type SummaryStyle = "user" | "pair"

/** A message of the context with the entry it came from. */
export interface ContextMessage<M extends Message = Message> {
  /** For a result that repair added (`"repair"`): the entry of the call. */
  readonly entryId: string
  readonly kind: ContextMessageKind
  readonly message: M
}

/**
 * The treatment of messages that a provider would reject, such as a tool call without a result: add an error result, drop the call, or
 * leave everything as it is.
 */
export type RepairMode = "synthesize" | "drop" | "none"

/** A tool result that pruning shortened. Sizes are UTF-16 units, 4,800 for an image. */
export interface PrunedResult {
  readonly entryId: string
  readonly toolCallId: string
  /** `"trimmed"`: its middle was cut out; `"cleared"`: all of it was replaced by a notice. */
  readonly how: "trimmed" | "cleared"
  readonly chars: number
  readonly charsLeft: number
  /** The entry with whose message the step was taken: the result has been sent like this since then, and as it was before. */
  readonly since: string
}

/** A message that a recorded step shows shorter, or leaves out. The log keeps it whole. */
export interface ShortenedMessage {
  readonly entryId: string
  /** `"results"`: the result of a tool was trimmed; `"images"`: texts are in the place of images; `"cut"`: its middle was cut out; `"left_out"`. */
  readonly how: "results" | "images" | "cut" | "left_out"
  /** The `context_step` entry. */
  readonly since: string
}

/**
 * Why a request does not begin with all of the one before: a compaction or a reset; a branch; a changed or deleted entry; a result that
 * replaces the one that repair had invented; the start of a tool call, which changes that one; a step of pruning; a recorded step to make
 * room; another model, thinking level or mode.
 */
export type BreakReason =
  | "compaction"
  | "reset"
  | "branch"
  | "edit"
  | "tombstone"
  | "result"
  | "start"
  | "prune"
  | "step"
  | "model"
  | "setting"

/** The part that a context has in common with the request of its last answer, which a provider can read from its cache. */
export interface Reused {
  /**
   * Those of the context's `tokens` that were in that request: what is sent beside the messages, and the messages up to the first that differs.
   * After a compaction or a reset without an answer since only the first; 0 if there was no answer. Also 0, in a page that is offline, if the
   * code that compares both is needed and cannot be loaded: after an edit, a deletion or a late result.
   */
  readonly tokens: number
  /**
   * The entry that broke the prefix since the last answer. Absent: the context begins with all of that request, which went to a model with
   * the same settings. For `"branch"`, `"model"` and `"setting"` the messages may be the same, but the last request was made on another
   * branch or with other settings, for which providers have caches of their own. For `"prune"`: the entry of the message with which the
   * step was taken.
   */
  readonly brokenBy?: { readonly entryId: string; readonly reason: BreakReason }
}

export interface SessionContext<M extends Message = ModelMessage> {
  readonly messages: readonly ContextMessage<M>[]
  readonly thinkingLevel: string
  /** By role. */
  readonly models: { readonly [role: string]: ModelRef }
  /** `models.default`. */
  readonly model?: ModelRef
  readonly mode: string
  readonly modeData?: unknown
  readonly injectedTtsrRules: readonly string[]
  readonly systemPromptOverride?: string
  /** The compaction that the context begins with. */
  readonly compaction?: { readonly entryId: string; readonly tokensBefore: number }
  /** The results that pruning shortened, oldest first; present if pruning was requested. The log keeps them whole. */
  readonly pruned?: readonly PrunedResult[]
  /** The messages that recorded steps of `makeRoom` show shorter, or leave out; present if there are any. */
  readonly shortened?: readonly ShortenedMessage[]
  /**
   * The size of the request: the input that the provider has reported last, and what is new. Without a report an estimate of these messages and
   * of `systemPromptOverride`. It is that of the moment in which the context was made, also if it is read later.
   */
  readonly tokens: number
  /** The part that a provider can read from its cache. A function of the log and the options: the same in every process. */
  readonly reused: Reused
  /** Whether `tokens` is within the window, or within more that the model has accepted; present if a window was given. If false, a `does_not_fit` gives the reason. */
  readonly fits?: boolean
  readonly diagnostics: readonly Diagnostic[]
}

/** An entry of a context, before it is rendered. */
export interface SelectedEntry {
  readonly seq: Seq
  readonly entry: Entry
  /** The latest valid edit of this entry on the path. */
  readonly edit?: Entry | undefined
  /** A system message or a question that the compaction includes; `seq` is the compaction's. */
  readonly included?: true
}
