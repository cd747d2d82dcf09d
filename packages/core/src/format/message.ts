/** Types of messages and of the content blocks they are made of: the part of the format that is sent to models. */

export interface TextBlock {
  readonly type: "text"
  readonly text: string
}
export interface ThinkingBlock {
  readonly type: "thinking"
  readonly thinking: string
  readonly signature?: string
}
export interface ImageBlock {
  readonly type: "image"
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}
export interface FileBlock {
  readonly type: "file"
  readonly path: string
  readonly mimeType: string
  readonly filename?: string
  /** Bytes. */
  readonly size?: number
}
export interface ToolCallBlock {
  readonly type: "toolCall"
  readonly id: string
  readonly name: string
  readonly arguments: { readonly [key: string]: unknown }
}
/** A block of an unknown type: kept, and passed to the model. */
export interface UnknownBlock {
  readonly type: string
  readonly [key: string]: unknown
}
export type KnownBlock = TextBlock | ThinkingBlock | ImageBlock | FileBlock | ToolCallBlock
export type ContentBlock = KnownBlock | UnknownBlock

export interface Usage {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly totalTokens?: number
  readonly cost?: number | { readonly total?: number; readonly [key: string]: unknown }
  readonly [key: string]: unknown
}

export interface Attachment {
  readonly path: string
  readonly mimeType: string
  readonly filename?: string
  /** Bytes. */
  readonly size?: number
}

interface MessageBase {
  /** Made by the program, not by a person or a model; starts no turn. */
  readonly synthetic?: boolean
  /** A summary that is stored as a message, as other systems do. */
  readonly summary?: boolean
  /** At most {@link MAX_ATTACHMENTS}. */
  readonly attachments?: readonly Attachment[]
  readonly [key: string]: unknown
}
export interface UserMessage extends MessageBase {
  readonly role: "user"
  readonly content: readonly ContentBlock[]
}
export interface SystemMessage extends MessageBase {
  readonly role: "system"
  readonly content: readonly ContentBlock[]
}
export interface AssistantMessage extends MessageBase {
  readonly role: "assistant"
  readonly content: readonly ContentBlock[]
  readonly provider?: string
  readonly model?: string
  readonly usage?: Usage
  readonly stopReason?: string
}
export interface ToolResultMessage extends MessageBase {
  readonly role: "toolResult"
  readonly content: readonly ContentBlock[]
  readonly toolCallId: string
  readonly toolName?: string
  readonly isError: boolean
}
/** A message of another role (`bashExecution`, …): kept unchanged, with or without content. */
export interface CustomRoleMessage extends MessageBase {
  readonly role: string
  readonly content?: readonly ContentBlock[]
}
/** The messages of roles that models know. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage
export type Message = ModelMessage | CustomRoleMessage
