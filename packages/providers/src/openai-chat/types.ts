/** The parts of the Chat Completions API that are read and written, in the shapes of `openai`. */
export interface ChatText {
  type: "text"
  text: string
}
export interface ChatImage {
  type: "image_url"
  image_url: { url: string }
}
export type ChatToolCall =
  | { id: string; type: "function"; function: { name: string; arguments: string } }
  | { id: string; type: "custom"; custom: { name: string; input: string } }

export type ChatMessage =
  | { role: "system"; content: string | ChatText[] }
  | { role: "developer"; content: string | ChatText[] }
  | { role: "user"; content: string | (ChatText | ChatImage)[] }
  | {
      role: "assistant"
      content?: string | ChatText[] | null
      refusal?: string | null
      audio?: { id: string } | null
      tool_calls?: ChatToolCall[]
    }
  | { role: "tool"; tool_call_id: string; content: string | ChatText[] }

export interface ChatRequest {
  messages: ChatMessage[]
}

/** An answer: a `ChatCompletion` of the SDK. */
export interface ChatAnswer {
  readonly id?: string
  readonly model?: string
  readonly choices: readonly {
    readonly index?: number
    readonly finish_reason?: string | null
    readonly message: object
  }[]
  readonly usage?: object | null
}

/** A chunk of a stream: a `ChatCompletionChunk` of the SDK. */
export interface ChatChunk {
  readonly id?: string
  readonly model?: string
  /** Without a delta, and without choices: chunks that have the results of Azure's content filter, or the usage. */
  readonly choices?:
    | readonly {
        readonly index?: number
        readonly delta?: object | null
        readonly finish_reason?: string | null
      }[]
    | null
  readonly usage?: object | null
}
