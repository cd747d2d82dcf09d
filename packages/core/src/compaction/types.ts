/** What a compaction is asked for and what it gives. */
import type { ContentBlock, Usage } from "../format/messages.ts"
import type { CallOptions } from "../storage/contract.ts"
import type { CompactionSettings } from "./settings/settings.ts"

export interface SummarizeRequest {
  readonly system: string
  readonly prompt: string
  readonly maxTokens: number
  /** Missing: the model's own. */
  readonly temperature?: number
  /** Fires when the caller gives up, and when the answer takes longer than the `timeout`. */
  readonly signal: AbortSignal
}

/**
 * What a model gave, with what tells an answer from half of one. An assistant message as models give it is one. A stop reason that
 * says that the model was cut off, refused, or called a tool makes it no answer, whatever the text; so does a call among the blocks.
 */
export interface SummaryAnswer {
  readonly text?: string
  /** Taken where there is no `text`: the text of its blocks. */
  readonly content?: string | readonly ContentBlock[]
  /** In the words of any of the common providers: `"stop"`, `"end_turn"`, `"length"`, `"max_tokens"`, `"toolUse"`, `"refusal"`, … */
  readonly stopReason?: string
  /** What it cost; stored with the summary, of several requests the sum. */
  readonly usage?: Usage
}

/**
 * The caller's model. Rejecting, answering nothing, too late, or half, fails the compaction and writes nothing. A bare text is taken
 * as whole: whoever can be cut off by `maxTokens` says so with a {@link SummaryAnswer}.
 */
export type Summarize = (request: SummarizeRequest) => Promise<string | SummaryAnswer>

/** Settings of this one call stand over the session's and the repository's. */
export interface CompactOptions extends CallOptions, CompactionSettings {
  /** Put last in the prompt. */
  readonly instructions?: string
  /** `"overflow"`: the provider has refused the context as too long. Only told to listeners. Default `"manual"`. */
  readonly reason?: "manual" | "overflow"
}

/** For the summary of a branch that is left; see `Session.branchWithSummary`. */
export interface BranchSummaryOptions extends CompactionSettings {
  /** Put last in the prompt. */
  readonly instructions?: string
  /** Tokens of the branch that are summarized, the newest first. Default: what the summarizer's window leaves for them. */
  readonly budget?: number
}

export type AutoCompactOptions = Omit<CompactOptions, "reason">

export interface CompactionResult {
  readonly entryId: string
  /** As it is stored. */
  readonly summary: string
  /** Of the context's messages, before and after, by one and the same estimate. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Tokens that the model takes. */
  readonly window: number
  /** Whether the system prompt in the log and what the model now gets are within it. */
  readonly fits: boolean
  /** Where it does not fit: which rule keeps how much, and what can be done. */
  readonly tooLarge?: string
}

export interface CompactionStatus {
  /** A compaction of this session is under way. */
  readonly running: boolean
  /** In a row. */
  readonly failures: number
  /** Nothing is compacted by itself until a compaction by hand succeeds or the breaker is reset. */
  readonly breakerOpen: boolean
}
