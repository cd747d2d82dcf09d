/** The parts of the Responses API that are read and written, in the shapes of `openai`. */
type InputPart = { type: "input_text"; text: string } | { type: "input_image"; detail: "auto"; image_url: string }
type Status = "in_progress" | "completed" | "incomplete"

/** Items of other types, such as those of hosted tools, are in a request as they were in the answer. */
export type ResponsesItem =
  | { type: "message"; role: "user" | "developer"; content: string | InputPart[] }
  | { type: "message"; role: "assistant"; content: string }
  | {
      type: "message"
      id: string
      role: "assistant"
      status: Status
      content: ({ type: "output_text"; text: string; annotations: never[] } | { type: "refusal"; refusal: string })[]
      phase?: "commentary" | "final_answer" | null
    }
  | {
      type: "reasoning"
      id: string
      summary: { type: "summary_text"; text: string }[]
      encrypted_content?: string | null
    }
  | { type: "function_call"; call_id: string; name: string; arguments: string; id?: string }
  | { type: "custom_tool_call"; call_id: string; name: string; input: string; id?: string }
  | { type: "function_call_output"; call_id: string; output: string | InputPart[] }
  | { type: "custom_tool_call_output"; call_id: string; output: string | InputPart[] }

export interface ResponsesRequest {
  instructions?: string
  input: ResponsesItem[]
}

/** An answer: a `Response` of the SDK. */
export interface ResponsesAnswer {
  readonly id?: string
  readonly model?: string
  readonly status?: string
  /** In seconds since 1970. */
  readonly created_at?: number
  readonly incomplete_details?: { readonly reason?: string } | null
  readonly error?: { readonly message?: string } | null
  readonly output: readonly object[]
  readonly usage?: object | null
}

/** An event of a stream: a `ResponseStreamEvent` of the SDK. */
export interface ResponsesEvent {
  readonly type: string
}
