/** Messages of molf's records. */
import type { Attachment, ContentBlock } from "@sessions/core"
import { argumentsOf, type Fields, fieldsOf, numberOf, stringOf, textBlock } from "../base/values.ts"

/** As many as a message of ours may have. */
export const MAX_ATTACHMENTS = 10

/** Undefined for a record of another role. Remembers the names of tools for their results. */
export function messageOf(record: Fields, toolNames: Map<string, string>): Fields | undefined {
  const { role, content, toolCallId, synthetic, summary } = record
  const text = stringOf(content) ?? ""
  const files = attachmentsOf(record["attachments"])
  const flags = {
    ...(files.length === 0 ? {} : { attachments: files.slice(0, MAX_ATTACHMENTS) }),
    ...(synthetic === true ? { synthetic } : {}),
    ...(summary === true ? { summary } : {}),
  }
  const rest: ContentBlock[] = files.slice(MAX_ATTACHMENTS).map((file) => ({ type: "file", ...file }))
  const texts: ContentBlock[] = text === "" ? [] : [textBlock(text)]
  if (role === "user") return { role, content: [...texts, ...rest], ...flags }
  if (role === "assistant") {
    const blocks = [...thinkingOf(record), ...texts, ...callsOf(record, toolNames), ...rest]
    return { role, content: blocks, ...modelOf(record), ...usageOf(record["usage"]), ...flags }
  }
  if (role !== "tool" || typeof toolCallId !== "string") return undefined
  const toolName = stringOf(record["toolName"]) ?? toolNames.get(toolCallId)
  const name = toolName === undefined ? {} : { toolName }
  return { role: "toolResult", toolCallId, ...name, isError: record["isError"] === true, content: [...texts, ...rest] }
}

function thinkingOf({ reasoning }: Fields): readonly ContentBlock[] {
  return typeof reasoning === "string" && reasoning !== "" ? [{ type: "thinking", thinking: reasoning }] : []
}

function callsOf({ toolCalls }: Fields, toolNames: Map<string, string>): readonly ContentBlock[] {
  if (!Array.isArray(toolCalls)) return []
  return (toolCalls as readonly unknown[]).flatMap((call) => {
    const { toolCallId: id, toolName: name, args } = fieldsOf(call)
    if (typeof id !== "string" || typeof name !== "string") return []
    toolNames.set(id, name)
    return [{ type: "toolCall", id, name, arguments: argumentsOf(args ?? {}) }]
  })
}

/** `provider/id`; the id may have slashes, too. */
function modelOf({ model }: Fields): Fields {
  if (typeof model !== "string") return {}
  const slash = model.indexOf("/")
  return slash < 0 ? { model } : { provider: model.slice(0, slash), model: model.slice(slash + 1) }
}

function usageOf(usage: unknown): Fields {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = fieldsOf(usage)
  const counts = { input: inputTokens, output: outputTokens, cacheRead: cacheReadTokens, cacheWrite: cacheWriteTokens }
  const known = Object.entries(counts).filter(([, count]) => numberOf(count) !== undefined)
  return known.length === 0 ? {} : { usage: Object.fromEntries(known) }
}

function attachmentsOf(list: unknown): readonly Attachment[] {
  if (!Array.isArray(list)) return []
  return (list as readonly unknown[]).flatMap((value) => {
    const { path, mimeType, filename, size } = fieldsOf(value)
    if (typeof path !== "string" || typeof mimeType !== "string") return []
    return [
      {
        path,
        mimeType,
        ...(typeof filename === "string" ? { filename } : {}),
        ...(typeof size === "number" ? { size } : {}),
      },
    ]
  })
}
