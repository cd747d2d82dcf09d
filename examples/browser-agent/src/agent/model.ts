/** What a turn needs of a model; the stand-in and the endpoint are two of them. */
import type { AssistantMessage, ModelMessage, Summarize } from "@sessions/core"

export interface Model {
  readonly provider: string
  readonly name: string
  /** Tokens that it takes. */
  readonly window: number
  /**
   * One answer: text that is told while it comes, calls of tools, or both. Rejects with the signal's reason when that fires; what had
   * been told by then is the caller's to keep.
   */
  answer(request: AnswerRequest): Promise<Answer>
  readonly summarize: Summarize
}

export interface AnswerRequest {
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolDescription[]
  readonly signal: AbortSignal
  /** Called with all of the text so far. */
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
