/** What a compaction is asked for and what it gives. */
import type { ContentBlock, Usage } from "../format/messages.ts"
import type { TokenCounter } from "../format/tokens.ts"
import type { CallOptions } from "../storage/contract.ts"
import type { PruneOptions } from "../context/prune/settings.ts"
import type { SummaryStyle } from "../context/summary.ts"
import type { WindowTable } from "./settings/windows.ts"

export type CompactionPreset = "reserve" | "threshold-100k" | "share-80" | "share-90"

export interface CompactionSettings {
  /** Stands beneath the other settings of its layer; see {@link PRESETS}. */
  readonly preset?: CompactionPreset
  /** False: only `compact()` by hand. Default true. */
  readonly enabled?: boolean
  /** The caller's model. With it here, `turn` compacts by itself before and after its function. */
  readonly summarize?: Summarize
  /** Milliseconds that one answer of the summarizer may take. Default 300,000. */
  readonly timeout?: number

  /** Tokens of the model's window; wins over `windows` and the table of models. */
  readonly contextWindow?: number
  /** Rows for the table of windows: by the beginning of a model's name, in tokens. */
  readonly windows?: WindowTable
  /** Tokens of one message; default: an estimate, four UTF-16 units a token. */
  readonly countTokens?: TokenCounter

  // One of these three a layer: when it is time.
  /** Tokens kept free for the answer: it is time when the context has more than the window less these. Default 16,384, in a small window no more than a quarter of it. */
  readonly reserveTokens?: number
  /** It is time when the context has so many tokens. */
  readonly thresholdTokens?: number
  /** It is time when the context has this share of the window, more than 0 and at most 1. */
  readonly thresholdShare?: number

  // One of these three a layer: what stays as it is.
  /**
   * At least so many of the newest tokens. Default 20,000, but no more than a third of what the context has when it is time; 0 keeps
   * nothing.
   */
  readonly keepRecentTokens?: number
  /** At least so many of the newest turns. 0 keeps nothing. */
  readonly keepTurns?: number
  /** At least so many of the newest messages. 0 keeps nothing. */
  readonly keepMessages?: number

  /** Messages since the last compaction below which nothing is compacted by itself. Default 0. */
  readonly minMessages?: number
  /**
   * Asked of the summarizer. Default: 0.8 of `reserveTokens`, or of half the summarizer's window where that is less; a split turn's
   * beginning gets 0.5 of it at most.
   */
  readonly maxSummaryTokens?: number
  /**
   * How what does not fit the summarizer's window is summarized, or what the summarizer finds too long; either way it is cut between
   * rounds (what was said, the answer, the results of its calls) into as many requests as it takes. False: one summary, which each
   * request brings up to date with its messages. True: each request gives a summary of its own messages, in a `<context_summary>`
   * block, also where there is only one. Default false.
   */
  readonly rounds?: boolean
  /** Tokens that the summarizer takes, its answer among them. Default: the window of the session's model. */
  readonly summarizerWindow?: number
  /** Handed to the summarizer. Default: none, the model's own. */
  readonly temperature?: number
  /** How the summary stands in the context; kept in the log with the summary. Default `"user"`. */
  readonly summaryAs?: SummaryStyle
  /** Failures in a row after which nothing is compacted by itself any more. Default 3. */
  readonly maxFailures?: number
  /**
   * What `context()` does to old tool results where it is not told, and what counts as the context here. By shares of the window that
   * `context()` is given, else of this one's. Default false.
   */
  readonly prune?: boolean | PruneOptions
}

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

/**
 * - `failed`: the summarizer, the storage or a hook; what would be written would not be shorter.
 * - `nothing_to_cut`: what is to be kept is all there is.
 * - `moved`: the session went on elsewhere meanwhile.
 * - `stopped`: whoever asked for it gave up, or closed the session.
 *
 * Only the first is a failure that counts.
 */
export type CompactionFailureKind = "failed" | "nothing_to_cut" | "moved" | "stopped"
