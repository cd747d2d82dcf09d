/** Reads the roles, content blocks and tool calls of messages, which other programs may have written in other shapes. */
import { type ContentBlock, type ModelMessage, ROLE_CHECKS, type ToolCallBlock } from "../format/message.ts"
import type { Entry } from "../format/entry.ts"
import { isObject } from "../format/shape.ts"

/** Roles that a model accepts. */
export const MODEL_ROLES: ReadonlySet<unknown> = new Set(ROLE_CHECKS.keys())

/** The content that an edit gives its target, null to remove it. Undefined: the edit is invalid. */
export function replacementOf(edit: Entry): readonly ContentBlock[] | null | undefined {
  const replacement: unknown = edit["replacement"]
  return replacement === null ? null : isObject(replacement) ? blocksOf(replacement["content"]) : undefined
}

/** Content as blocks; a string, as other programs write it, becomes one text block. Undefined: the content is invalid. */
export function blocksOf(content: unknown): readonly ContentBlock[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (!Array.isArray(content)) return undefined
  const valid = content.every((block) => typeof block === "object" && block !== null && typeof block.type === "string")
  return valid ? content : undefined
}

export function callsOf(message: ModelMessage): readonly ToolCallBlock[] {
  if (message.role !== "assistant") return []
  return message.content.filter((block): block is ToolCallBlock => block.type === "toolCall")
}
