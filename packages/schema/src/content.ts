/** Schemas of messages and of the content blocks they are made of. */
import * as z from "zod"
import { byName, type Namespaced, usage } from "./common.ts"

export const blocks = {
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

/** A content block. Blocks of unknown types are kept. */
export const block = byName("type", blocks, (type) => z.looseObject({ type })).meta({ title: "A content block" })

export const content = z.array(block)

/** `MAX_ATTACHMENTS` of core, copied so that this package does not load core. */
const MAX_ATTACHMENTS = 10

export const attachment = z.looseObject({
  path: z.string(),
  mimeType: z.string(),
  filename: z.string().exactOptional(),
  size: z.number().meta({ description: "Bytes." }).exactOptional(),
})

const base = {
  synthetic: z
    .boolean()
    .meta({ description: "Made by the program, not by a person or a model; starts no turn." })
    .exactOptional(),
  summary: z.boolean().meta({ description: "A summary that is stored as a message." }).exactOptional(),
  attachments: z.array(attachment).max(MAX_ATTACHMENTS).exactOptional(),
}

export const roles = {
  user: z.looseObject({ role: z.literal("user"), content, ...base }),
  system: z.looseObject({ role: z.literal("system"), content, ...base }),
  assistant: z.looseObject({
    role: z.literal("assistant"),
    content,
    provider: z.string().exactOptional(),
    model: z.string().exactOptional(),
    usage: usage.exactOptional(),
    stopReason: z.string().exactOptional(),
    ...base,
  }),
  toolResult: z.looseObject({
    role: z.literal("toolResult"),
    content,
    toolCallId: z.string(),
    toolName: z.string().exactOptional(),
    isError: z.boolean(),
    ...base,
  }),
}

/** The roles of the messages that pi keeps for itself, and those of other programs. */
type CustomRole = "bashExecution" | "pythonExecution" | "branchSummary" | "compactionSummary" | "custom" | Namespaced

/** A message. Messages of other roles are kept, with or without content. */
export const message = byName("role", roles, (role: z.ZodType<CustomRole>) =>
  z.looseObject({ role, content: content.exactOptional(), ...base }),
).meta({ title: "A message" })
