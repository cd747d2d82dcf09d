/** The events of messages that Copilot has not written itself. */
import type { ContentBlock, ModelMessage } from "@sessions/core"
import { lostAttachments, lostBlock, lostFile, lostThinking } from "../base/lost.ts"
import type { Losses } from "../base/losses.ts"
import { type Fields, textBlock, textOf } from "../base/values.ts"
import { PROVIDER } from "./messages.ts"

export interface EventParts {
  readonly type: string
  readonly data: Fields
}

/** Undefined if nothing is left of the message. */
export function eventOfMessage(message: ModelMessage, losses: Losses): EventParts | undefined {
  lostAttachments(message, losses)
  const text = textOf(message.content.flatMap((block) => textBlocksOf(block, losses)))
  const images = message.content.flatMap((block) =>
    block.type === "image" ? [{ data: block.data, mimeType: block.mimeType }] : [],
  )
  switch (message.role) {
    case "system":
      losses.add("system", 1, (n) => `${n} system messages are not in the file: Copilot has its own.`)
      return undefined
    case "user": {
      const attachments = images.map((image) => ({ type: "blob", ...image, displayName: "image" }))
      if (text === "" && attachments.length === 0) return undefined
      const attached = attachments.length === 0 ? {} : { attachments }
      return { type: "user.message", data: { content: text, ...attached } }
    }
    case "toolResult": {
      const { toolCallId, isError } = message
      losses.add(
        "images",
        images.length,
        (n) => `${n} images of tool results are in the file, but Copilot does not send them.`,
      )
      const shown =
        images.length === 0 ? {} : { binaryResultsForLlm: images.map((image) => ({ type: "image", ...image })) }
      const result = { result: { content: text, ...shown } }
      // Copilot sends the text of the error.
      const outcome = isError ? { ...result, error: { message: text } } : result
      return { type: "tool.execution_complete", data: { toolCallId, success: !isError, ...outcome } }
    }
    case "assistant": {
      for (const _ of images) lostBlock(losses)
      const { provider, model, content } = message
      const toolRequests = content.flatMap((block) => {
        if (block.type !== "toolCall") return []
        return [{ toolCallId: block.id, name: block.name, arguments: block.arguments, type: "function" }]
      })
      const thinking = thinkingOf(content, provider === PROVIDER, losses)
      if (text === "" && toolRequests.length === 0 && thinking === undefined) return undefined
      const named = model === undefined ? {} : { model }
      return { type: "assistant.message", data: { ...named, content: text, toolRequests, ...thinking } }
    }
  }
}

function textBlocksOf(block: ContentBlock, losses: Losses): readonly ContentBlock[] {
  switch (block.type) {
    case "text":
      return [block]
    case "file":
      lostFile(losses)
      return [textBlock(`[File: ${block["path"]}]`)]
    case "image":
    case "thinking":
    case "toolCall":
      return []
    default:
      lostBlock(losses)
      return []
  }
}

/** Copilot has one text of reasoning for an answer, which its provider may have signed. */
function thinkingOf(content: readonly ContentBlock[], isOwn: boolean, losses: Losses): Fields | undefined {
  const blocks = content.filter((block) => block.type === "thinking")
  const [first] = isOwn ? blocks : []
  for (const block of blocks) if (block !== first) lostThinking(losses)
  if (first === undefined) return undefined
  const { thinking, signature } = first
  return { reasoningText: thinking, ...(signature === undefined ? {} : { reasoningOpaque: signature }) }
}
