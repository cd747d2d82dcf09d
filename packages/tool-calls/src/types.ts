/** The public types. */
import type { Entry, ToolCallBlock, ToolResultMessage } from "@sessions/core"
import type { CallState } from "@sessions/core/context"

/** `"never"`: a call must not be repeated, as one that charges a card. `"safe"`: it may be repeated, as one that reads a file. */
export type ToolKind = "never" | "safe"

export interface ToolCallsOptions {
  /** By the name of the tool. Calls of other tools, also of one that is misspelt here, run without a start, and nothing is known of them after a crash. */
  readonly tools: Readonly<Record<string, ToolKind>>
  /** Asked by `resume` for each call whose outcome is unknown. Default: the model is told. */
  readonly onUnknown?: (call: CallState, o: { readonly signal?: AbortSignal }) => UnknownAnswer | Promise<UnknownAnswer>
  /**
   * Makes the entries of results, for logs in which a bridge to an SDK reads them: `chatResult` of `@sessions/ai-sdk`, `agentResult` of
   * `@sessions/openai-agents`, and `aiSdkResult` for loops with the AI SDK. Default: `toolResult` of `@sessions/providers`.
   */
  readonly toResult?: ToResult
}

/** Makes the entry of a result. `answer` is the entry of the message with the call. */
export type ToResult = (
  call: Pick<ToolCallBlock, "id" | "name">,
  output: unknown,
  o: { readonly isError: boolean; readonly answer: Entry },
) => ResultEntry

export type ResultEntry = {
  readonly type: "message"
  readonly message: ToolResultMessage
  readonly [field: string]: unknown
}

/**
 * The outcome of a call: its output, `"not done"`, or undefined if that cannot be found out. `"not done"` means that it has not happened and
 * will not: the process that started it has ended. The call runs again then, with the same key. Of a call that a turn with a lease started it is
 * asked only when that lease has ended.
 */
export type UnknownAnswer = "not done" | { readonly output: unknown; readonly isError?: boolean } | undefined | void

/** The argument of the function of a call. */
export interface Execution {
  /** For a receiver that recognizes a repeated request by a key. The same in every attempt, in every process. */
  readonly key: string
  /** From 1. */
  readonly attempt: number
  readonly arguments: Readonly<Record<string, unknown>>
  /** The one that was passed to `run` or `resume`. */
  readonly signal: AbortSignal | undefined
}

/** Runs one call. It returns the output: a text, blocks of text and images, or any value that JSON can hold. An error becomes an error result. */
export type Execute = (execution: Execution) => unknown

export interface RunOptions {
  /**
   * Passed on. If it fires before the call begins, `run` rejects at once, and nothing runs. It does not wait for a start that is on its way: if that
   * arrives, an error result says that the call was not run, unless another run has started it since. A call that it ends with an error has no result.
   */
  readonly signal?: AbortSignal
}

export interface CallResult {
  /** The entry of the result. */
  readonly entryId: string
  readonly message: ToolResultMessage
  /** The value that the function has returned or thrown; absent if the call had a result already. */
  readonly outcome?: { readonly output: unknown } | { readonly error: unknown }
}

export interface ResumedCall {
  readonly call: CallState
  /**
   * `"done"`: it had a result. `"ran"`: it ran now. `"settled"`: `onUnknown` has given its result. `"held"`: another run has it, its turn is `running`,
   * or the conversation has gone on. `"left"`: the model is told its state.
   */
  readonly outcome: "done" | "ran" | "settled" | "held" | "left"
}

/** A call by its place, as ids may be there twice: what `callStates()` has of it. */
export interface PlacedCall extends Pick<CallState, "callId" | "call"> {
  /** The entry of its message. Without it: the last assistant message. */
  readonly entryId?: string
}

export interface ToolCalls {
  /** The record of the tools, for the batch of the turn's question: `turn.append([question, calls.record])`. */
  readonly record: { readonly type: "tool_policy"; readonly never: readonly string[]; readonly safe: readonly string[] }
  /**
   * Runs a call of the session's last assistant message, and appends its result. A call of a `"never"` tool is started in the log first. A call
   * that has a result already is not run. Rejects with `conflict`, and runs nothing, if the call was started by another run, or the
   * conversation has gone on behind the message; with `invalid` if the message has no such call, or an argument is of a wrong type; else with the errors of
   * the storage. If the storage refuses the result of a call that has run, the error has its `outcome`.
   */
  run(call: Pick<ToolCallBlock, "id"> | PlacedCall, execute: Execute, o?: RunOptions): Promise<CallResult>
  /**
   * Goes through the calls of the last assistant message that have no result, in their order: those that did not start, and those that may be
   * repeated, run; for those whose outcome is unknown `onUnknown` is asked. `executors`: by the name of the tool; without one a call is left.
   */
  resume(executors: Readonly<Record<string, Execute>>, o?: RunOptions): Promise<readonly ResumedCall[]>
}
