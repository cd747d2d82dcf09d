/** The sizes of tool results in UTF-16 units, in which pruning sets its limits. */
import type { ContentBlock } from "../../format/message.ts"
import { toJson } from "../../format/stored-text.ts"

/** Four units for a token of an image of a megapixel and less. */
const UNITS_PER_IMAGE = 4_800

/** The texts of a content, the names and arguments of its calls, and its images. */
export function contentUnits(content: readonly ContentBlock[] | undefined): number {
  let units = 0
  for (const block of content ?? []) units += unitsOf(block)
  return units
}

function unitsOf(block: ContentBlock): number {
  switch (block.type) {
    case "text":
      return lengthOf(block["text"])
    case "thinking":
      return lengthOf(block["thinking"])
    case "toolCall":
      return lengthOf(block["name"]) + toJson(block["arguments"]).length
    case "image":
      return UNITS_PER_IMAGE
    default:
      return 0
  }
}

function lengthOf(value: unknown): number {
  return typeof value === "string" ? value.length : 0
}
