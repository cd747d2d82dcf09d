/** Types that the functions of all providers share. */
import type { AssistantMessage, ContextMessage, ModelMessage, NewEntry, ToolResultMessage } from "@sessions/core"

/** What a request is made of: `session.context()`, or messages of the same shape. */
export interface Context {
  readonly messages: readonly ContextMessage<ModelMessage>[]
  readonly systemPromptOverride?: string
}

export interface RequestOptions {
  /** The program's own system prompt. The context's `systemPromptOverride` replaces it. */
  readonly system?: string
}

/** What a request does not have as the context has it. */
export type LossCode =
  /** Thinking that another provider made, or that has no signature, is left out. */
  | "thinking"
  /** Images are left out: the provider takes none in this place, or none of their type or size. */
  | "images"
  /** Images of a tool's result are in a user message behind the results. */
  | "images_moved"
  /** Files are sent as their paths. */
  | "files"
  /** Attachments of messages are left out. */
  | "attachments"
  /** Blocks of types that the provider does not have are left out. */
  | "blocks"
  /** Results are not marked as errors: the provider has no mark. Their content is sent. */
  | "errors"
  /** Calls whose arguments did not arrive completely are left out. */
  | "partial_calls"
  /** Calls of the provider's own tools without their results, or results without their calls, are left out. */
  | "hosted_calls"
  /** Calls have another id than in the log, and their results have the same: the provider does not take theirs, or it occurred before. */
  | "ids"
  /** Calls have another name than in the log, that of `toolName`: the provider does not take theirs. */
  | "names"
  /** References into the provider's own store that have ended are sent as what is left of them: audio as its transcript. */
  | "expired"
  /** Signatures of thinking are left out; its text is sent. */
  | "signatures"
  /** System messages from the middle of the conversation are at its beginning. */
  | "system_moved"
  /** Halves of surrogate pairs are sent as U+FFFD. */
  | "surrogates"
  /**
   * Calls and results did not match, or a message was empty: mended as by `session.context()`. Or a user message was added where the provider wants one:
   * at the beginning, or behind an answer that is to go on.
   */
  | "repaired"

export interface RequestDiagnostic {
  readonly code: LossCode
  /** Sentences for people: what is not as in the context, by which rule, and the way out. */
  readonly message: string
  /** How often it occurred. */
  readonly count: number
  /** The first entry with it. */
  readonly entryId: string
}

/** `request` is spread into the call of the provider's client. */
export interface ProviderRequest<R> {
  readonly request: R
  /** One for each kind of loss and each rule. Empty: the request has all that the context has. */
  readonly diagnostics: readonly RequestDiagnostic[]
}

/** An answer as an entry for `session.append`. */
export type AnswerEntry = {
  readonly type: "message"
  readonly message: AssistantMessage
}

/** What a stream is appended to: a session, or the one that a turn's function gets. */
export interface Appendable {
  /** Behind which entry it appends: {@link AnswerKeeper} compares it. */
  readonly leafId?: string | null
  append(entries: NewEntry | readonly NewEntry[]): Promise<unknown>
}

export type StreamedEntry = {
  readonly type: "message"
  readonly message: AssistantMessage | ToolResultMessage
}

/** `keepAnswers` makes one. */
export interface AnswerKeeper {
  /**
   * Puts what a killed process has left of its answer into the log, behind the question that it answered, with `stopReason: "aborted"`; true if it did. Call it at
   * the beginning of a turn. Nothing is put if the conversation has gone on since; either way the document is deleted. If there is one, it first waits for two
   * intervals: while another process still writes it, it is that one's, and nothing happens. A crash leaves the document, or the answer in the log, or both, and the
   * next call deletes it. Rejects with the errors of the storage and of `append`.
   */
  restore(session: Appendable): Promise<boolean>
  /**
   * Of the functions that read a stream: `entries` gives what has arrived. The result ends it, and deletes the document; with `false`, where the log has not taken
   * the answer, the document stays, with all that has arrived.
   */
  begin(session: Appendable, entries: () => readonly StreamedEntry[]): { end(deletes?: boolean): Promise<void> }
}

export interface StreamOptions<E> {
  /** Is called with each event after it was added, and awaited. If it throws, the stream ends as after an error. */
  readonly onEvent?: (event: E) => unknown
  /** The signal that was given to the client: an answer that it ended is `aborted`, not an `error`. */
  readonly signal?: AbortSignal
  /** Keeps what arrives beside the log until the answer is in it: see `keepAnswers`. */
  readonly keep?: AnswerKeeper
}
