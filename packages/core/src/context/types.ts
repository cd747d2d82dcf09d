import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message, ModelMessage } from "../format/messages.ts"
import type { ModelRef } from "../format/records.ts"

export type ContextMessageKind = "message" | "custom" | "branch_summary" | "compaction" | "repair"

/** A message of the context with the entry it came from. */
export interface ContextMessage<M extends Message = Message> {
  /** For a made-up result (`"repair"`): the entry of the call. */
  readonly entryId: string
  readonly kind: ContextMessageKind
  readonly message: M
}

/** What to do with a tool call that has no result, and with whatever else a model's provider would refuse. */
export type RepairMode = "synthesize" | "drop" | "none"

/** A tool result that pruning made shorter. Sizes are UTF-16 units, 4,800 for an image. */
export interface PrunedResult {
  readonly entryId: string
  readonly toolCallId: string
  /** Its middle cut out, or all of it replaced by a notice. */
  readonly how: "trimmed" | "cleared"
  readonly chars: number
  readonly charsLeft: number
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
  /** What pruning made shorter, oldest first; there when it was asked for. The log has all of it. */
  readonly pruned?: readonly PrunedResult[]
  /** Estimated: of the messages as they stand here, and of `systemPromptOverride`. */
  readonly tokens: number
  /** Whether `tokens` is within the window; there when a window was given. Where it is not, a `does_not_fit` says why. */
  readonly fits?: boolean
  readonly diagnostics: readonly Diagnostic[]
}
