/** Model messages of the AI SDK that are read and written, in the shapes of `ai`. */
export type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue | undefined }
type Options = Record<string, { [key: string]: JsonValue | undefined }>
interface WithOptions {
  providerOptions?: Options
}

export type AiSdkText = { type: "text"; text: string } & WithOptions
/** `data` is base64. */
export type AiSdkFile = { type: "file"; data: string; mediaType: string; filename?: string } & WithOptions
export type AiSdkToolResult = {
  type: "tool-result"
  toolCallId: string
  toolName: string
  output:
    | { type: "text"; value: string }
    | { type: "json"; value: JsonValue }
    | { type: "error-text"; value: string }
    | { type: "error-json"; value: JsonValue }
    | {
        type: "content"
        value: (
          | { type: "text"; text: string }
          | { type: "file"; data: { type: "data"; data: string }; mediaType: string }
        )[]
      }
} & WithOptions

/** Parts of other types are in a request as they were in the answer. */
export type AiSdkMessage =
  | { role: "user"; content: (AiSdkText | AiSdkFile)[] }
  | {
      role: "assistant"
      content: (
        | AiSdkText
        | AiSdkFile
        | ({ type: "reasoning"; text: string } & WithOptions)
        | ({ type: "tool-call"; toolCallId: string; toolName: string; input: unknown } & WithOptions)
      )[]
    }
  | { role: "tool"; content: AiSdkToolResult[] }

export interface AiSdkRequest {
  instructions?: string
  messages: AiSdkMessage[]
}

/** What one call of the model gave: a `StepResult` of the SDK. */
export interface AiSdkStep {
  readonly model: { readonly provider: string; readonly modelId: string }
  readonly usage: object
  readonly finishReason: string
  readonly response: { readonly id?: string }
}

/** The event of the SDK's callback `onLanguageModelCallEnd`. */
export interface AiSdkCallEnd {
  readonly provider: string
  readonly modelId: string
  readonly content: readonly object[]
  readonly usage: object
  readonly finishReason: string
  readonly responseId: string
}

/** The event of the SDK's callback `onStepEnd`. */
export interface AiSdkStepEnd extends AiSdkStep {
  readonly response: {
    readonly id?: string
    readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  }
}

/** An answer: the result of `generateText`, or of an agent's `generate`. */
export interface AiSdkAnswer {
  readonly responseMessages: readonly { readonly role: string; readonly content: unknown }[]
  readonly steps: readonly AiSdkStep[]
}

/** A part of a stream: a `TextStreamPart` of the SDK. */
export interface AiSdkStreamPart {
  readonly type: string
}
