/** Messages of ours from a UI message. The parts of an assistant, from one `step-start` to the next, are a message and its results. */
import type { ContentBlock } from "@sessions/core"
import {
  argumentsOf,
  type Fields,
  fieldsOf,
  imageOfDataUrl,
  isObject,
  jsonOf,
  stringOf,
  textBlock,
} from "../base/values.ts"

/** A part that ours do not have, as it was. */
export const PART = "ai-sdk:part"

/** Undefined for a record that is no message. */
export function messagesOf({ role, parts }: Fields): readonly Fields[] | undefined {
  if (!Array.isArray(parts)) return undefined
  const list = (parts as readonly unknown[]).map((part): Fields => (isObject(part) ? part : { value: part }))
  if (role === "user" || role === "system") return [{ role, content: list.map(blockOf) }]
  return role === "assistant" ? stepsOf(list).flatMap(stepMessages) : undefined
}

function stepsOf(parts: readonly Fields[]): readonly (readonly Fields[])[] {
  const steps: Fields[][] = [[]]
  for (const part of parts) {
    if (part["type"] === "step-start") steps.push([])
    else steps.at(-1)?.push(part)
  }
  return steps.filter((step) => step.length > 0)
}

function stepMessages(parts: readonly Fields[]): readonly Fields[] {
  const content = parts.map((part) => callOf(part) ?? thinkingOf(part) ?? blockOf(part))
  const isSigned = content.some((block) => block.type === "thinking" && block.signature !== undefined)
  const message = { role: "assistant", content, ...(isSigned ? { provider: "anthropic" } : {}) }
  return [message, ...parts.map(resultOf).filter((result) => result !== undefined)]
}

function blockOf(part: Fields): ContentBlock {
  const { type, text, url } = part
  if (type === "text" && typeof text === "string") return textBlock(text)
  const image = type === "file" ? imageOfDataUrl(url) : undefined
  return image?.mimeType.startsWith("image/") === true ? image : { type: PART, part }
}

/** The signature of Anthropic, which has to get it back. */
function thinkingOf({ type, text, providerMetadata }: Fields): ContentBlock | undefined {
  if (type !== "reasoning" || typeof text !== "string") return undefined
  const signature = stringOf(fieldsOf(fieldsOf(providerMetadata)["anthropic"])["signature"])
  return { type: "thinking", thinking: text, ...(signature === undefined ? {} : { signature }) }
}

interface Call {
  readonly id: string
  readonly name: string
}

/** Undefined for a part that is no call of a tool. */
function toolOf({ type, toolCallId: id, toolName }: Fields): Call | undefined {
  if (typeof type !== "string" || typeof id !== "string") return undefined
  const name = type === "dynamic-tool" ? stringOf(toolName) : type.startsWith("tool-") ? type.slice(5) : undefined
  return name === undefined ? undefined : { id, name }
}

function callOf(part: Fields): ContentBlock | undefined {
  const call = toolOf(part)
  // A call whose input is invalid has it in `rawInput`.
  return call && { type: "toolCall", ...call, arguments: argumentsOf(part["input"] ?? part["rawInput"] ?? {}) }
}

function resultOf(part: Fields): Fields | undefined {
  const call = toolOf(part)
  const output = outputOf(part)
  if (call === undefined || output === undefined) return undefined
  return { role: "toolResult", toolCallId: call.id, toolName: call.name, ...output }
}

/** Undefined for a call that has not ended. */
function outputOf({ state, output, preliminary, errorText, approval }: Fields): Fields | undefined {
  switch (state) {
    case "output-available": {
      if (preliminary === true) return undefined
      const content = contentOf(output)
      return {
        isError: content !== undefined && fieldsOf(output)["isError"] === true,
        content: content ?? [textOf(output)],
      }
    }
    case "output-error":
      return { isError: true, content: [textBlock(stringOf(errorText) ?? "")] }
    case "output-denied":
      return { isError: true, content: [textBlock(stringOf(fieldsOf(approval)["reason"]) ?? DENIED)] }
    default:
      return undefined
  }
}

/** What the AI SDK tells a model. */
const DENIED = "Tool call execution denied."

/** The blocks of a result of MCP, `{content: [{type, …}]}`. */
function contentOf(output: unknown): readonly ContentBlock[] | undefined {
  const { content } = fieldsOf(output)
  if (!Array.isArray(content)) return undefined
  const blocks = (content as readonly unknown[]).map(resultBlock)
  return blocks.every((block) => block !== undefined) ? blocks : undefined
}

function resultBlock(value: unknown): ContentBlock | undefined {
  const { type, text, data, mimeType } = fieldsOf(value)
  if (type === "text" && typeof text === "string") return textBlock(text)
  if (type !== "image" || typeof data !== "string" || typeof mimeType !== "string") return undefined
  return { type, data, mimeType }
}

function textOf(output: unknown): ContentBlock {
  return textBlock(typeof output === "string" ? output : jsonOf(output ?? null))
}
