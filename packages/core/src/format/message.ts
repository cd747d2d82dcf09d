/**
 * Messages and the content blocks they are made of: the part of an entry that is sent to models. Types, and checks as in `entry.ts`.
 * Unknown fields, roles and block types pass.
 */
import { MAX_ATTACHMENTS } from "./limits.ts"
import {
  all,
  arrayOf,
  type Check,
  checksByName,
  isBoolean,
  isNumber,
  isObject,
  isString,
  oneOf,
  optional,
  sentence,
  shape,
} from "./shape.ts"

/** A name with the namespace of its owner, such as `acme:note`: no such name will ever be one of this format. */
export type Namespaced = `${string}:${string}`

export interface TextBlock {
  readonly type: "text"
  readonly text: string
  readonly [key: string]: unknown
}
export interface ThinkingBlock {
  readonly type: "thinking"
  readonly thinking: string
  readonly signature?: string
  readonly [key: string]: unknown
}
export interface ImageBlock {
  readonly type: "image"
  /** Base64. */
  readonly data: string
  readonly mimeType: string
  readonly [key: string]: unknown
}
export interface FileBlock extends Attachment {
  readonly type: "file"
  readonly [key: string]: unknown
}
export interface ToolCallBlock {
  readonly type: "toolCall"
  readonly id: string
  readonly name: string
  readonly arguments: { readonly [key: string]: unknown }
  readonly [key: string]: unknown
}
/**
 * A block of an unknown type: kept, and passed to the model. Stored logs also have names without a namespace; the type leaves them out, so
 * that `block.type === "text"` narrows the union.
 */
export interface UnknownBlock {
  readonly type: Namespaced
  readonly [key: string]: unknown
}
export type KnownBlock = TextBlock | ThinkingBlock | ImageBlock | FileBlock | ToolCallBlock
export type ContentBlock = KnownBlock | UnknownBlock

/** Tokens and cost of a call. `inputTokens` and `outputTokens` count as `input` and `output` if those are missing. */
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
/** Roles of pi, whose messages have fields of their own. */
export const PI_ROLES = ["bashExecution", "pythonExecution", "branchSummary", "compactionSummary", "custom"] as const

/** A message of another role: kept unchanged, with or without content. As for blocks, stored logs may have any name. */
export interface CustomRoleMessage extends MessageBase {
  readonly role: (typeof PI_ROLES)[number] | Namespaced
  readonly content?: readonly ContentBlock[]
}
/** The messages of roles that models know. */
export type ModelMessage = UserMessage | AssistantMessage | ToolResultMessage | SystemMessage
export type Message = ModelMessage | CustomRoleMessage

/** Whether a message has a role that models know and the fields of that role. */
export function isModelMessage(message: Message): message is ModelMessage {
  return ROLE_CHECKS.has(message.role) && messageShape(message) === undefined
}

/** Whether a block has one of the known types and the fields of that type. */
export function isKnownBlock(block: ContentBlock): block is KnownBlock {
  return BLOCK_CHECKS.has(block.type) && blockShape(block) === undefined
}

export function messageProblem(value: unknown): string | undefined {
  return sentence("The message", messageShape(value))
}

export function blockProblem(value: unknown): string | undefined {
  return sentence("The block", blockShape(value))
}

const attachment: Check = shape({
  path: isString,
  mimeType: isString,
  filename: optional(isString),
  size: optional(isNumber),
})

export const BLOCK_CHECKS: ReadonlyMap<string, Check> = checksByName<KnownBlock["type"]>({
  text: shape({ text: isString }),
  thinking: shape({ thinking: isString, signature: optional(isString) }),
  image: shape({ data: isString, mimeType: isString }),
  file: attachment,
  toolCall: shape({ id: isString, name: isString, arguments: shape({}) }),
})

const typedBlock: Check = shape({ type: isString })
const blockShape: Check = (value) => typedBlock(value) ?? BLOCK_CHECKS.get((value as { type: string }).type)?.(value)
export const contentShape: Check = arrayOf(blockShape, "an array of blocks")

export const usageShape: Check = shape({
  input: optional(isNumber),
  output: optional(isNumber),
  cacheRead: optional(isNumber),
  cacheWrite: optional(isNumber),
  totalTokens: optional(isNumber),
  cost: optional((value) => (isObject(value) ? cost(value) : isNumber(value))),
})
const cost: Check = shape({ total: optional(isNumber) })

const attachments: Check = all(arrayOf(attachment), (value) => {
  const { length } = value as readonly unknown[]
  return length > MAX_ATTACHMENTS ? ` must hold at most ${MAX_ATTACHMENTS}, not ${length}.` : undefined
})

export const ROLE_CHECKS: ReadonlyMap<string, Check> = checksByName<ModelMessage["role"]>({
  user: shape({ content: contentShape }),
  system: shape({ content: contentShape }),
  assistant: shape({
    content: contentShape,
    provider: optional(isString),
    model: optional(isString),
    usage: optional(usageShape),
    stopReason: optional(isString),
  }),
  toolResult: shape({ content: contentShape, toolCallId: isString, toolName: optional(isString), isError: isBoolean }),
})
const anyRole: Check = shape({
  role: isString,
  synthetic: optional(isBoolean),
  summary: optional(isBoolean),
  attachments: optional(attachments),
})
const customRole: Check = shape({ content: optional(contentShape) })
export const messageShape: Check = (value) =>
  anyRole(value) ?? (ROLE_CHECKS.get((value as { role: string }).role) ?? customRole)(value)
export const systemMessageShape: Check = all(shape({ role: oneOf("system") }), messageShape)
