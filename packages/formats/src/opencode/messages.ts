/** Messages of an exported message of opencode, `{info, parts}`: the parts of a step are one message, and the results of its tools follow. */
import type { ContentBlock, ImageBlock } from "@sessions/core"
import { argumentsOf, type Fields, fieldsOf, imageOfDataUrl, numberOf, stringOf, textBlock } from "../base/values.ts"

export function userMessage(parts: readonly Fields[]): Fields {
  const shown = parts.filter((part) => part["ignored"] !== true && !isReadFile(part))
  const content = shown.flatMap(userBlock)
  // Files that the user named are read by opencode into texts of its own.
  const isMade = shown.length > 0 && shown.every(({ type, synthetic }) => synthetic === true || type === "compaction")
  return { role: "user", content, ...(isMade ? { synthetic: true } : {}) }
}

/** The text of such a file is in a part of its own. */
function isReadFile({ type, mime }: Fields): boolean {
  return type === "file" && (mime === "text/plain" || mime === "application/x-directory")
}

function userBlock(part: Fields): readonly ContentBlock[] {
  if (part["type"] === "text") return typeof part["text"] === "string" ? [textBlock(part["text"])] : []
  if (part["type"] === "subtask") return [textBlock(SUBTASK)]
  if (part["type"] === "compaction") return [textBlock(COMPACTION)]
  const image = part["type"] === "file" ? imageOfDataUrl(part["url"]) : undefined
  return [image !== undefined && image.mimeType.startsWith("image/") ? image : { type: "opencode:part", part }]
}

/** What opencode sends of a command that a subagent carries out: its prompt is in the call that follows, which no model has made. */
const SUBTASK = "The following tool was executed by the user"

/** What it sends of a compaction, which was stopped if it has no summary. */
export const COMPACTION = "What did we do so far?"

/** The parts of an assistant message, in steps: each call of the model is one. */
export function stepsOf(parts: readonly Fields[]): readonly (readonly Fields[])[] {
  const steps: Fields[][] = []
  let hasStart = false
  for (const part of parts) {
    const isStart = part["type"] === "step-start"
    if (steps.length === 0 || (isStart && hasStart)) steps.push([])
    hasStart ||= isStart
    steps.at(-1)?.push(part)
  }
  return steps
}

export interface StepMessages {
  readonly message: Fields
  readonly results: readonly ToolResult[]
}

export interface ToolResult {
  readonly message: Fields
  /** Milliseconds. */
  readonly time: number | undefined
  /** opencode does not send it any more. */
  readonly isCleared: boolean
}

/** Undefined for a step without content. */
export function stepMessages(info: Fields, parts: readonly Fields[]): StepMessages | undefined {
  const content = parts.flatMap(assistantBlock)
  if (content.length === 0) return undefined
  const finish = parts.find(({ type }) => type === "step-finish")
  const { providerID: provider, modelID: model } = info
  const usage = usageOf(finish)
  const stopReason = stringOf(finish?.["reason"])
  const message = {
    role: "assistant",
    content,
    ...(typeof provider === "string" && typeof model === "string" ? { provider, model } : {}),
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === undefined ? {} : { stopReason }),
  }
  return { message, results: parts.flatMap(toolResult) }
}

function assistantBlock(part: Fields): readonly ContentBlock[] {
  const { type, text } = part
  if (type === "text") return typeof text === "string" && text !== "" ? [textBlock(text)] : []
  if (type === "reasoning") {
    const signature = stringOf(fieldsOf(fieldsOf(part["metadata"])["anthropic"])["signature"])
    return [{ type: "thinking", thinking: stringOf(text) ?? "", ...(signature === undefined ? {} : { signature }) }]
  }
  const { callID: id, tool: name, state } = part
  if (type !== "tool" || typeof id !== "string" || typeof name !== "string") return []
  return [{ type: "toolCall", id, name, arguments: argumentsOf(fieldsOf(state)["input"] ?? {}) }]
}

function toolResult(part: Fields): readonly ToolResult[] {
  const { type, callID: toolCallId, tool: toolName } = part
  const state = fieldsOf(part["state"])
  const { status } = state
  if (type !== "tool" || typeof toolCallId !== "string" || typeof toolName !== "string") return []
  if (status !== "completed" && status !== "error") return []
  const metadata = fieldsOf(state["metadata"])
  const interrupted = status === "error" && metadata["interrupted"] === true ? stringOf(metadata["output"]) : undefined
  const isError = status === "error" && interrupted === undefined
  const text = interrupted ?? stringOf(state[isError ? "error" : "output"]) ?? ""
  const content = [textBlock(text), ...imagesOf(state["attachments"])]
  const { end, compacted } = fieldsOf(state["time"])
  const isCleared = compacted !== undefined && compacted !== null
  return [{ message: { role: "toolResult", toolCallId, toolName, isError, content }, time: numberOf(end), isCleared }]
}

function imagesOf(attachments: unknown): readonly ImageBlock[] {
  if (!Array.isArray(attachments)) return []
  return (attachments as readonly unknown[]).flatMap((part) => {
    const image = imageOfDataUrl(fieldsOf(part)["url"])
    return image?.mimeType.startsWith("image/") === true ? [image] : []
  })
}

/** opencode counts reasoning beside the output, and cached tokens beside the input. */
function usageOf(finish: Fields | undefined): Fields | undefined {
  if (finish === undefined) return undefined
  const tokens = fieldsOf(finish["tokens"])
  const cache = fieldsOf(tokens["cache"])
  const [input, output] = [
    numberOf(tokens["input"]) ?? 0,
    (numberOf(tokens["output"]) ?? 0) + (numberOf(tokens["reasoning"]) ?? 0),
  ]
  const [cacheRead, cacheWrite] = [numberOf(cache["read"]) ?? 0, numberOf(cache["write"]) ?? 0]
  const totalTokens = numberOf(tokens["total"]) ?? input + output + cacheRead + cacheWrite
  return { input, output, cacheRead, cacheWrite, totalTokens, cost: numberOf(finish["cost"]) ?? 0 }
}
