/**
 * UI messages from ours. An assistant's message has all steps up to the next message that is no result; each call is a `dynamic-tool`, which
 * is valid whatever tools the application has, and gets its result.
 */
import type { AssistantMessage, ContentBlock, ToolResultMessage } from "@sessions/core"
import type { WrittenMessage } from "../base/list-format.ts"
import { lostAttachments, lostBlock, lostFile, lostResult, lostSignature } from "../base/lost.ts"
import type { Losses } from "../base/losses.ts"
import { dataUrlOf, type Fields, textBlock } from "../base/values.ts"
import { PART } from "./read.ts"

type Part = Record<string, unknown>

export function recordsOf(messages: readonly WrittenMessage[], losses: Losses, base?: Fields): readonly Fields[] {
  const records: { readonly id: string; readonly role: string; readonly parts: Part[] }[] = []
  /** Parts of calls without a result. */
  const open = new Map<string, Part>()
  let before: string | undefined
  for (const { id, message } of messages) {
    lostAttachments(message, losses)
    const { role } = message
    if (role === "toolResult") setResult(open, message, losses)
    else if (role === "assistant") {
      const last = before === "toolResult" ? records.at(-1) : undefined
      const parts = stepOf(message, open, losses)
      if (last?.role === "assistant") last.parts.push(...parts)
      else records.push({ id, role, parts })
    } else records.push({ id, role, parts: message.content.flatMap((block) => partOf(block, losses)) })
    before = role
  }
  // The AI SDK refuses messages without parts.
  const all = records.map((record) => (record.parts.length > 0 ? record : { ...record, parts: [textBlock("")] }))
  const [first, ...rest] = all
  if (first === undefined || base === undefined) return all
  return [{ ...first, ...base, parts: first.parts }, ...rest]
}

function stepOf(message: AssistantMessage, open: Map<string, Part>, losses: Losses): Part[] {
  const parts = message.content.flatMap((block): Part[] => {
    if (block.type === "thinking") return [reasoningOf(block, message.provider, losses)]
    if (block.type !== "toolCall") return partOf(block, losses)
    const { id: toolCallId, name: toolName, arguments: input } = block
    const part = { type: "dynamic-tool", toolCallId, toolName, state: "input-available", input }
    open.set(toolCallId, part)
    return [part]
  })
  return [{ type: "step-start" }, ...parts]
}

/** The AI SDK gives each provider its own metadata, so a signature reaches the one that made it. */
function reasoningOf(block: ContentBlock, provider: string | undefined, losses: Losses): Part {
  const { thinking: text, signature } = block
  if (signature === undefined) return { type: "reasoning", text }
  if (provider === "anthropic") return { type: "reasoning", text, providerMetadata: { anthropic: { signature } } }
  lostSignature(losses)
  return { type: "reasoning", text }
}

function setResult(open: Map<string, Part>, message: ToolResultMessage, losses: Losses): void {
  const part = open.get(message.toolCallId)
  if (part === undefined) {
    lostResult(losses)
    return
  }
  open.delete(message.toolCallId)
  const { content, isError } = message
  const known = content.filter(({ type }) => type === "text" || type === "image")
  for (let n = known.length; n < content.length; n++) lostBlock(losses)
  const [only] = known
  const text = known.length === 1 && only?.type === "text" ? only["text"] : undefined
  if (text === undefined) {
    part["state"] = "output-available"
    part["output"] = { content: known, ...(isError ? { isError } : {}) }
  } else if (isError) Object.assign(part, { state: "output-error", errorText: text })
  else Object.assign(part, { state: "output-available", output: text })
}

function partOf(block: ContentBlock, losses: Losses): Part[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }]
    case "image":
      return [{ type: "file", mediaType: block.mimeType, url: dataUrlOf(block) }]
    case "file":
      lostFile(losses)
      return [{ type: "text", text: `[File: ${block.path}]` }]
    case PART:
      return [block["part"] as Part]
    default:
      lostBlock(losses)
      return []
  }
}
