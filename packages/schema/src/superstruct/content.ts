import type { ContentBlock, KnownBlock, Message, ModelMessage } from "@sessions/core"
import { array, boolean, literal, optional, size, string, type } from "superstruct"
import { byName, type Check, finite, typed, usage } from "./common.ts"

const blocks: Readonly<Record<KnownBlock["type"], Check<unknown>>> = {
  text: typed(type({ type: literal("text"), text: string() })),
  thinking: typed(type({ type: literal("thinking"), thinking: string(), signature: optional(string()) })),
  image: typed(type({ type: literal("image"), data: string(), mimeType: string() })),
  file: typed(
    type({
      type: literal("file"),
      path: string(),
      mimeType: string(),
      filename: optional(string()),
      size: optional(finite),
    }),
  ),
  toolCall: typed(type({ type: literal("toolCall"), id: string(), name: string(), arguments: type({}) })),
}

/** A content block. One of a type that is not known is let through. */
export const blockStruct: Check<ContentBlock> = byName("type", blocks, typed(type({ type: string() })))

export const content: Check<ContentBlock[]> = typed(array(blockStruct))

/** More are refused; `docs/format.md`, "Records". */
const MAX_ATTACHMENTS = 10

const attachment = type({
  path: string(),
  mimeType: string(),
  filename: optional(string()),
  size: optional(finite),
})

const marks = {
  synthetic: optional(boolean()),
  summary: optional(boolean()),
  attachments: optional(size(array(attachment), 0, MAX_ATTACHMENTS)),
}

const messages: Readonly<Record<ModelMessage["role"], Check<unknown>>> = {
  user: typed(type({ role: literal("user"), content, ...marks })),
  system: typed(type({ role: literal("system"), content, ...marks })),
  assistant: typed(
    type({
      role: literal("assistant"),
      content,
      provider: optional(string()),
      model: optional(string()),
      usage: optional(usage),
      stopReason: optional(string()),
      ...marks,
    }),
  ),
  toolResult: typed(
    type({
      role: literal("toolResult"),
      content,
      toolCallId: string(),
      toolName: optional(string()),
      isError: boolean(),
      ...marks,
    }),
  ),
}

/** A message. One of a caller's own role is let through, with or without content. */
export const messageStruct: Check<Message> = byName(
  "role",
  messages,
  typed(type({ role: string(), content: optional(content), ...marks })),
)
