/** Content that was read, as far as it is what it should be. */
import type { ContentBlock } from "../format/messages.ts"
import type { Entry } from "../format/records.ts"
import { isObject } from "../format/shape.ts"

/** What an edit puts in the place of its target: null for nothing. Undefined: the edit is not sound. */
export function replacementOf(edit: Entry): readonly ContentBlock[] | null | undefined {
  const replacement: unknown = edit["replacement"]
  return replacement === null ? null : isObject(replacement) ? blocksOf(replacement["content"]) : undefined
}

/** Content as blocks: a bare string, as other programs write it, is one text block. */
export function blocksOf(content: unknown): readonly ContentBlock[] | undefined {
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (!Array.isArray(content)) return undefined
  const sound = content.every((block) => typeof block === "object" && block !== null && typeof block.type === "string")
  return sound ? content : undefined
}
