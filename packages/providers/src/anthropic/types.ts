/** The parts of Anthropic's API that are read and written, in the shapes of `@anthropic-ai/sdk`. */

export interface CacheControl {
  type: "ephemeral"
  ttl?: "5m" | "1h"
}
interface Cached {
  cache_control?: CacheControl | null
}
export interface AnthropicText extends Cached {
  type: "text"
  text: string
}
export interface AnthropicImage extends Cached {
  type: "image"
  source: { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string }
}
export interface AnthropicToolResult extends Cached {
  type: "tool_result"
  tool_use_id: string
  content?: string | (AnthropicText | AnthropicImage)[]
  is_error?: boolean
}
/** Blocks of other types, such as those of server tools, are in a request as they were in the answer. */
export type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | AnthropicToolResult
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | ({ type: "tool_use"; id: string; name: string; input: unknown } & Cached)

export interface AnthropicMessage {
  role: "user" | "assistant"
  content: string | AnthropicBlock[]
}

export interface AnthropicRequest {
  system?: AnthropicText[]
  messages: AnthropicMessage[]
  /** Where the code runs that waits for the results in this request. */
  container?: string
}

/** An answer: a `Message` of the SDK. */
export interface AnthropicAnswer {
  readonly id?: string
  readonly model?: string
  readonly content: readonly object[]
  readonly stop_reason?: string | null
  readonly usage?: object
  readonly container?: { readonly id?: string; readonly expires_at?: string } | null
}

/** An event of a stream: a `RawMessageStreamEvent` of the SDK. */
export interface AnthropicEvent {
  readonly type: string
}
