/** Messages of the events of Copilot. */
import type { ContentBlock, ImageBlock } from "@sessions/core"
import { argumentsOf, type Fields, fieldsOf, isObject, stringOf, textBlock } from "../base/values.ts"

/** Images that events refer to by the id of an earlier event. */
export type Assets = ReadonlyMap<string, ImageBlock>

export const PROVIDER = "github-copilot"

export function userMessage(data: Fields, assets: Assets): Fields {
  const { content, attachments, source, isAutopilotContinuation } = data
  const blocks: ContentBlock[] = [textBlock(stringOf(content) ?? ""), ...imagesOf(attachments, assets)]
  // Messages of a skill, of another agent and of the autopilot name their source.
  const isMade = isAutopilotContinuation === true || (typeof source === "string" && source !== "user")
  return { role: "user", content: blocks, ...(isMade ? { synthetic: true } : {}) }
}

/** A response of the model, which is several events if it has several parts of reasoning. */
export function assistantMessage(parts: readonly Fields[]): Fields {
  const model = parts.map((data) => stringOf(data["model"])).find((name) => name !== undefined)
  const content = parts.flatMap(blocksOf)
  return { role: "assistant", content, ...(model === undefined ? {} : { provider: PROVIDER, model }) }
}

function blocksOf(data: Fields): readonly ContentBlock[] {
  const { reasoningText, reasoningOpaque, encryptedContent, content, toolRequests } = data
  const signature = stringOf(reasoningOpaque) ?? stringOf(encryptedContent)
  const thinking = stringOf(reasoningText) ?? ""
  const blocks: ContentBlock[] = []
  if (thinking !== "" || signature !== undefined) {
    blocks.push({ type: "thinking", thinking, ...(signature === undefined ? {} : { signature }) })
  }
  if (typeof content === "string" && content !== "") blocks.push(textBlock(content))
  for (const request of Array.isArray(toolRequests) ? (toolRequests as readonly unknown[]) : []) {
    const { toolCallId: id, name, arguments: args } = fieldsOf(request)
    if (typeof id === "string" && typeof name === "string") {
      blocks.push({ type: "toolCall", id, name, arguments: argumentsOf(args) })
    }
  }
  return blocks
}

export function toolResult(data: Fields, toolName: string, assets: Assets): Fields {
  const { toolCallId, success, error } = data
  const result = fieldsOf(data["result"])
  const text = stringOf(result["content"]) ?? stringOf(fieldsOf(error)["message"]) ?? ""
  const images = imagesOf(result["binaryResultsForLlm"] ?? result["contents"], assets)
  return { role: "toolResult", toolCallId, toolName, isError: success !== true, content: [textBlock(text), ...images] }
}

function imagesOf(list: unknown, assets: Assets): readonly ImageBlock[] {
  if (!Array.isArray(list)) return []
  return (list as readonly unknown[]).filter(isObject).flatMap((part) => {
    const asset = assets.get(stringOf(part["assetId"]) ?? "")
    return asset ?? imageOf(part) ?? []
  })
}

/** The image of an object with base64 data and a type. */
export function imageOf({ data, mimeType }: Fields): ImageBlock | undefined {
  if (typeof data !== "string" || typeof mimeType !== "string" || !mimeType.startsWith("image/")) return undefined
  return { type: "image", mimeType, data }
}
