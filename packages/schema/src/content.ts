import type {
  Attachment,
  ContentBlock,
  CustomRoleMessage,
  KnownBlock,
  Message,
  ModelMessage,
  UnknownBlock,
} from "@sessions/core"
import * as z from "zod"
import { byName, usage } from "./common.ts"

type Named<Union, Field extends string, Name> = Union extends { readonly [F in Field]: Name } ? Union : never
type BlockSchemas = { readonly [T in KnownBlock["type"]]: z.ZodType<Named<KnownBlock, "type", T>> }
type MessageSchemas = { readonly [R in ModelMessage["role"]]: z.ZodType<Named<ModelMessage, "role", R>> }

const blocks: BlockSchemas = {
  text: z.looseObject({ type: z.literal("text"), text: z.string() }),
  thinking: z.looseObject({
    type: z.literal("thinking"),
    thinking: z.string(),
    signature: z.string().exactOptional(),
  }),
  image: z.looseObject({
    type: z.literal("image"),
    data: z.string().meta({ description: "Base64." }),
    mimeType: z.string(),
  }),
  file: z.looseObject({
    type: z.literal("file"),
    path: z.string(),
    mimeType: z.string(),
    filename: z.string().exactOptional(),
    size: z.number().meta({ description: "Bytes." }).exactOptional(),
  }),
  toolCall: z.looseObject({
    type: z.literal("toolCall"),
    id: z.string(),
    name: z.string(),
    arguments: z.looseObject({}),
  }),
}

/** A content block. One of a type that is not known is kept and passed through. */
export const blockSchema: z.ZodType<ContentBlock> = byName<KnownBlock, UnknownBlock>("type", blocks, (type) =>
  z.looseObject({ type }),
).meta({ title: "A content block" })

export const content: z.ZodType<ContentBlock[]> = z.array(blockSchema)

/** More are refused; `docs/format.md`, "Records". */
const MAX_ATTACHMENTS = 10

const attachment: z.ZodType<Attachment> = z.looseObject({
  path: z.string(),
  mimeType: z.string(),
  filename: z.string().exactOptional(),
  size: z.number().meta({ description: "Bytes." }).exactOptional(),
})

const marks = {
  synthetic: z
    .boolean()
    .meta({ description: "Made by the program, not by a person or a model; starts no turn." })
    .exactOptional(),
  summary: z.boolean().meta({ description: "A summary that stands in the list as a message." }).exactOptional(),
  attachments: z.array(attachment).max(MAX_ATTACHMENTS).exactOptional(),
}

const messages: MessageSchemas = {
  user: z.looseObject({ role: z.literal("user"), content, ...marks }),
  system: z.looseObject({ role: z.literal("system"), content, ...marks }),
  assistant: z.looseObject({
    role: z.literal("assistant"),
    content,
    provider: z.string().exactOptional(),
    model: z.string().exactOptional(),
    usage: usage.exactOptional(),
    stopReason: z.string().exactOptional(),
    ...marks,
  }),
  toolResult: z.looseObject({
    role: z.literal("toolResult"),
    content,
    toolCallId: z.string(),
    toolName: z.string().exactOptional(),
    isError: z.boolean(),
    ...marks,
  }),
}

/** A message. One of a caller's own role is kept as it is, with or without content. */
export const messageSchema: z.ZodType<Message> = byName<ModelMessage, CustomRoleMessage>("role", messages, (role) =>
  z.looseObject({ role, content: content.exactOptional(), ...marks }),
).meta({ title: "A message" })
