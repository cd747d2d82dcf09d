/** Parts of the Gemini API from blocks and results of ours. */
import type { ContentBlock, ToolResultMessage } from "@sessions/core"
import type { Losses } from "../base/losses.ts"
import { type Fields, isObject, textOf } from "../base/values.ts"

/** The parts of blocks other than thinking and calls. */
export function partsOfBlocks(content: readonly ContentBlock[], losses: Losses): readonly Fields[] {
  return content.flatMap((block): readonly Fields[] => {
    if (block.type === "text") return [{ text: block.text }]
    if (block.type === "image") return [{ inlineData: { mimeType: block.mimeType, data: block.data } }]
    if (block.type === "gemini:part" && isObject(block["part"])) return [block["part"]]
    if (block.type === "file") {
      losses.add("files", 1, (n) => `${n} attached files are in the file as their paths only.`)
      return [{ text: `[File: ${block.path}]` }]
    }
    losses.add("blocks", 1, (n) => `${n} blocks that Gemini CLI does not have are not in the file.`)
    return []
  })
}

/** The response of a function: its text is the `output`, or the `error`; other blocks are its parts. */
export function functionResponseOf(message: ToolResultMessage, name: string, losses: Losses): Fields {
  const { toolCallId, isError, content } = message
  const parts = partsOfBlocks(
    content.filter(({ type }) => type !== "text"),
    losses,
  )
  const response = { [isError ? "error" : "output"]: textOf(content) }
  return { functionResponse: { id: toolCallId, name, response, ...(parts.length === 0 ? {} : { parts }) } }
}
