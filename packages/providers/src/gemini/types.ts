/** The parts of the Gemini API that are read and written, in the shapes of `@google/genai`. */
export interface GeminiPart {
  text?: string
  thought?: boolean
  thoughtSignature?: string
  inlineData?: { mimeType: string; data: string }
  functionCall?: { id?: string; name: string; args: Record<string, unknown> }
  functionResponse?: {
    id?: string
    name: string
    response: Record<string, unknown>
    parts?: { inlineData?: { mimeType: string; data: string } }[]
  }
}

export interface GeminiContent {
  role: "user" | "model"
  parts: GeminiPart[]
}

/** `config` has the system prompt alone: spread it into yours. */
export interface GeminiRequest {
  contents: GeminiContent[]
  config: { systemInstruction?: string }
}

/** An answer, or a chunk of a stream: a `GenerateContentResponse` of the SDK. */
export interface GeminiAnswer {
  readonly responseId?: string
  readonly modelVersion?: string
  readonly candidates?: readonly {
    readonly index?: number
    readonly finishReason?: string
    readonly content?: { readonly parts?: readonly object[] }
  }[]
  readonly promptFeedback?: { readonly blockReason?: string }
  readonly usageMetadata?: object
}
