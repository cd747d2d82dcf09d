/** The interface of a model, which the stand-in and the endpoint implement. */
import type { AssistantMessage, ModelMessage } from "@sessions/core"
import type { Summarize } from "@sessions/core/compaction"

export interface Model {
  readonly provider: string
  readonly name: string
  /** Size of the context window in tokens. */
  readonly window: number
  /**
   * Returns one answer: text, which is streamed to `onText`, tool calls, or both. Rejects with the signal's reason when it fires; the
   * caller may keep the text that was streamed until then.
   */
  answer(request: AnswerRequest): Promise<Answer>
  readonly summarize: Summarize
}

export interface AnswerRequest {
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolDescription[]
  readonly signal: AbortSignal
  /** Called with the whole text so far. */
  readonly onText: (text: string) => void
}

export type Answer = Pick<AssistantMessage, "content" | "stopReason" | "usage">

export interface ToolDescription {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly parameters: object
}

export interface Tool extends ToolDescription {
  run(args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<string>
}
