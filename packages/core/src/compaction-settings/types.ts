/** The public types of compaction: its settings, the summarizer, and the result. */
import type { CallOptions } from "../storage/contract.ts"
import type { ContextSettings } from "../context/settings.ts"
import type { WindowTable } from "./windows.ts"
import type { SummaryStyle } from "../context/types.ts"

export type CompactionPreset = "reserve" | "threshold-100k" | "share-80" | "share-90"

export interface CompactionSettings extends ContextSettings {
  /** A named set of settings. The other settings of the same layer override it. See {@link PRESETS}. Default `"reserve"`. */
  readonly preset?: CompactionPreset
  /** False turns automatic compaction off; `compact` still works. Default true. */
  readonly enabled?: boolean
  /** Calls the caller's model. With it in `automaticCompaction`, `turn` compacts before and after its function if due. */
  readonly summarize?: Summarize
  /** Milliseconds for each request to the summarizer; a later answer fails the compaction. Default 300,000. */
  readonly timeout?: number

  /** The most tokens of input that a request to the model may have. Overrides `windows`. Default: from the table of models, by the session's current model; 200,000 if the table lacks it. */
  readonly contextWindow?: number
  /** Rows to add to the table of models: prefixes of model names, and windows in tokens. The longest matching prefix wins. */
  readonly windows?: WindowTable

  // The trigger: a layer sets at most one of these three, else `invalid`.
  /**
   * Tokens of the window to keep free for the model's answer. Compaction is due if the context has more than the window minus this.
   * Default 16,384, but at most a quarter of the window.
   */
  readonly reserveTokens?: number
  /** Compaction is due if the context has at least this number of tokens. */
  readonly thresholdTokens?: number
  /** Compaction is due if the context has at least this share of the window. More than 0, at most 1. */
  readonly thresholdShare?: number

  // The part that is kept unsummarized: a layer sets at most one of these three, else `invalid`.
  /** Keeps at least this number of the newest tokens. Default 20,000, but at most a third of the trigger's limit. 0 keeps nothing. */
  readonly keepRecentTokens?: number
  /** Keeps at least this number of the newest turns. 0 keeps nothing. */
  readonly keepTurns?: number
  /** Keeps at least this number of the newest messages. 0 keeps nothing. */
  readonly keepMessages?: number

  /** Automatic compaction waits for this number of messages since the last compaction; always for at least one. Default 0. */
  readonly minMessages?: number
  /**
   * The `maxTokens` of a request to the summarizer. Default: 0.8 of the smaller of `reserveTokens` and half the summarizer's window. For
   * the beginning of a split turn it is at most 0.5 of the smaller of the two.
   */
  readonly maxSummaryTokens?: number
  /**
   * How several answers become one summary. Messages that do not fit one request to the summarizer are divided between rounds (a
   * prompt, its answer, and the results of its calls) into several requests. False: each request updates the summary of the requests
   * before it. True: each request summarizes only its own messages, and its answer is stored in a `<context_summary>` block, even if
   * there is only one. Default false.
   */
  readonly rounds?: boolean
  /** The summarizer's context window in tokens, including its answer. Default: the window of the session's model. */
  readonly summarizerWindow?: number
  /** Texts in place of those that the summarizer is asked with. Merged by name over all layers. */
  readonly prompts?: SummaryPrompts
  /** The `temperature` of a request to the summarizer. Default: not set. */
  readonly temperature?: number
  /**
   * How the summary is sent to the model: as one `"user"` message, or as a `"pair"` of a user message and an answer. Stored with the
   * summary. Default `"user"`.
   */
  readonly summaryAs?: SummaryStyle
  /** Automatic compaction stops after this number of consecutive failures. Default 3. See {@link CompactionStatus}. */
  readonly maxFailures?: number
}

/** Each must not be empty; one that is left out has its default, `SUMMARY_SYSTEM_PROMPT`, `FIRST_SUMMARY_PROMPT` or `UPDATE_SUMMARY_PROMPT` of `@sessions/core/compaction`. */
export interface SummaryPrompts {
  /** The `system` of every request, also for the beginning of a turn and for a branch. */
  readonly system?: string
  /** Follows the messages in the first summary of a history: says what the summary must have, and in which form. */
  readonly initial?: string
  /** Follows the new messages and the last summary: says how to merge them into it. */
  readonly update?: string
}

export interface SummarizeRequest {
  readonly system: string
  readonly prompt: string
  readonly maxTokens: number
  /** Missing: use the model's default. */
  readonly temperature?: number
  /** Fires if the caller aborts the compaction, its session is closed, or the answer takes longer than `timeout`. */
  readonly signal: AbortSignal
}

/**
 * A model's answer: an assistant message, or the whole answer of a client, such as those of the AI SDK, Anthropic, OpenAI (both APIs),
 * Gemini, Bedrock, Ollama and LangChain. The compaction fails if there is no text, or if the answer says by any of the names below, or
 * by a block, that it was cut off, was refused, ended in an error, or calls a tool. A word that is not known counts as not complete.
 * A block of thoughts in front of the text (`<think>…</think>`) is left out.
 */
export interface SummaryAnswer {
  readonly text?: string | object
  /** Used if there is no `text`: a text, or blocks, whose text is used. */
  readonly content?: string | object | null
  /** The reason as the common providers name it: `"stop"`, `"end_turn"`, `"length"`, `"max_tokens"`, `"toolUse"`, `"refusal"`, … */
  readonly stopReason?: string | null
  /** The same in the AI SDK. */
  readonly finishReason?: string | object | null
  /** The same in Anthropic's answers. */
  readonly stop_reason?: string | null
  /** The same in responses of OpenAI, whose text is in `output` and `output_text`. In the AI SDK `output` is a text. */
  readonly status?: string | null
  readonly output?: string | object
  readonly output_text?: string
  /** The first choice of a chat completion has the text and the `finish_reason`. */
  readonly choices?: readonly object[]
  /** The first candidate of an answer of Gemini has the text and the `finishReason`. */
  readonly candidates?: readonly object[] | null
  /** The message of an answer of Ollama, whose `done_reason` is beside it. */
  readonly message?: object
  readonly done_reason?: string
  /**
   * Stored with the summary, if it is in the form of assistant messages; the sum over all requests of the compaction. Invalid numbers and names of other
   * clients are ignored.
   */
  readonly usage?: object | null
  /** Stored with the compaction: a line about the summary for people, such as the row of a list. Of several answers the last one's. Not empty. */
  readonly shortSummary?: string | null
  /** Stored with the compaction unchanged: any JSON that the program needs after it. No context has it. Of several answers the last one's. */
  readonly preserveData?: unknown
}

/**
 * Calls the caller's model. If it rejects, times out, or gives an empty or incomplete answer, the compaction fails with
 * `compaction_failed` and nothing is written. A string counts as a complete answer; return the client's whole answer, a
 * {@link SummaryAnswer}, if `maxTokens` can cut it off.
 */
export type Summarize = (request: SummarizeRequest) => Promise<string | SummaryAnswer>

/** Options of one compaction. Its settings override those of the session, which override those of the repository. */
export interface CompactOptions extends CallOptions, CompactionSettings {
  /** Put last in the prompt. */
  readonly instructions?: string
  /** `"overflow"`: the provider has refused the context as too long. Only reported in `compact_start`. Default `"manual"`. */
  readonly reason?: "manual" | "overflow"
  /**
   * Makes the summary that the context begins with anew, from what is left of the entries before its kept part, which stays the same; and
   * the outdated branch summaries of both parts, as edits. Without a `keep…` setting. Default false.
   */
  readonly anew?: boolean
}

/** Options of the summary of the branch that `branchWithSummary` leaves. */
export interface BranchSummaryOptions extends CompactionSettings {
  /** Put last in the prompt. */
  readonly instructions?: string
  /**
   * At most this number of tokens of the branch is summarized, newest messages first; the summary says how many are left out, and
   * `details.leftOut` has their number. Default: all of the branch, in as many requests as the summarizer's window needs.
   */
  readonly budget?: number
}

export type AutoCompactOptions = Omit<CompactOptions, "reason" | "anew">

export interface CompactionResult {
  readonly entryId: string
  /** The summary as stored, with its file lists. */
  readonly summary: string
  /** Tokens of the context's messages before and after, both counted in the same way. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** The model's context window in tokens. */
  readonly window: number
  /** Whether the compacted context, with the system prompt in the log, fits `window`. */
  readonly fits: boolean
  /** Only if it does not fit: which setting keeps how many tokens, and what to change. */
  readonly tooLarge?: string
}

/** Options of `makeRoom`. Its settings override those of the session, which override those of the repository. */
export interface MakeRoomOptions extends AutoCompactOptions {
  /** The error that a provider has answered to a request with this context. */
  readonly error?: unknown
}

export interface RoomResult {
  /**
   * The last step that was taken. `"none"`: the context fits as it is. `"compacted"`: its older part was summarized. The others change what
   * contexts show: long results were trimmed, images and files gave way to texts, long messages were cut, older ones left out.
   */
  readonly step: "none" | "results" | "images" | "compacted" | "cut" | "left_out"
  /** The size of the context now, and the most that the model takes, both in tokens. */
  readonly tokens: number
  readonly limit: number
  /** Whether the context fits now, as far as its size is known, in tokens, bytes and images. */
  readonly fits: boolean
}

export interface CompactionStatus {
  /** Whether a compaction of this session is running. */
  readonly running: boolean
  /** Consecutive failures of kind `failed`; a successful compaction sets it to 0. */
  readonly failures: number
  /** Automatic compaction is off until `compact` succeeds or `resetCompactionBreaker` is called. */
  readonly breakerOpen: boolean
}

/**
 * Why a compaction wrote nothing. Only `failed` counts for the breaker.
 *
 * - `failed`: the summarizer, the storage or a hook failed; or the context would not be shorter; or the summary and the system prompt
 *   alone would exceed the window.
 * - `nothing_to_cut`: the settings keep the whole context.
 * - `moved`: another branch, compaction, edit or deletion changed the session while the summary was made.
 * - `stopped`: the caller aborted the call or closed the session.
 */
export type CompactionFailureKind = "failed" | "nothing_to_cut" | "moved" | "stopped"
