/** Steps of a trajectory from messages. The results of an assistant's calls are the observation of its step; a summary is a system step. */
import type { AssistantMessage, ContentBlock, ThinkingBlock, ToolCallBlock, Usage } from "@sessions/core"
import type { WrittenMessage } from "../base/list-format.ts"
import { lostAttachments, lostBlock, lostError, lostFile, lostResult, lostSignature } from "../base/lost.ts"
import type { Losses } from "../base/losses.ts"
import { dataUrlOf, type Fields, fieldsOf, numberOf } from "../base/values.ts"
import { PART } from "./read.ts"

type Step = Record<string, unknown>

export function recordsOf(messages: readonly WrittenMessage[], losses: Losses, base?: Fields): readonly Fields[] {
  const steps: Step[] = []
  /** The results of the step that has a call without one. */
  const open = new Map<string, Step>()
  for (const { type, timestamp, message } of messages) {
    lostAttachments(message, losses)
    if (message.role === "toolResult") {
      const step = open.get(message.toolCallId)
      open.delete(message.toolCallId)
      if (step === undefined) {
        lostResult(losses)
        continue
      }
      lostError(message, losses)
      const result = { source_call_id: message.toolCallId, content: contentOf(message.content, losses) }
      const { results = [] } = (step["observation"] ?? {}) as { readonly results?: readonly Fields[] }
      step["observation"] = { results: [...results, result] }
      continue
    }
    const isSummary = type === "compaction" && message.role === "user"
    const step: Step =
      message.role === "assistant"
        ? { timestamp, source: "agent", ...agentFields(message, losses) }
        : { timestamp, source: isSummary ? "system" : message.role, message: contentOf(message.content, losses) }
    steps.push(step)
    for (const block of message.content) if (block.type === "toolCall") open.set(block.id, step)
  }
  const [first, ...rest] = steps
  return first === undefined || base === undefined ? steps : [{ ...base, ...first }, ...rest]
}

function agentFields({ content, model, usage }: AssistantMessage, losses: Losses): Step {
  const thinking = content.filter((block): block is ThinkingBlock => block.type === "thinking")
  for (const { signature } of thinking) if (signature !== undefined) lostSignature(losses)
  const calls = content.filter((block): block is ToolCallBlock => block.type === "toolCall")
  const others = content.filter(({ type }) => type !== "thinking" && type !== "toolCall")
  const metrics = usage === undefined ? {} : metricsOf(usage)
  return {
    message: contentOf(others, losses),
    ...(model === undefined ? {} : { model_name: model }),
    ...(thinking.length === 0 ? {} : { reasoning_content: thinking.map((block) => block.thinking).join("\n") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(callOf) }),
    ...(Object.keys(metrics).length === 0 ? {} : { metrics }),
  }
}

function callOf({ id, name, arguments: args }: ToolCallBlock): Fields {
  return { tool_call_id: id, function_name: name, arguments: args }
}

function metricsOf({ input, output, cacheRead, cacheWrite, cost }: Usage): Fields {
  const metrics = {
    prompt_tokens: input === undefined ? undefined : input + (cacheRead ?? 0) + (cacheWrite ?? 0),
    completion_tokens: output,
    cached_tokens: cacheRead,
    cost_usd: typeof cost === "object" ? numberOf(cost.total) : cost,
  }
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== undefined))
}

/** A content of one text is a text. */
function contentOf(content: readonly ContentBlock[], losses: Losses): unknown {
  const parts = content.flatMap((block) => partOf(block, losses))
  if (parts.length === 0) return ""
  const { type, text } = fieldsOf(parts[0])
  return parts.length === 1 && type === "text" && typeof text === "string" ? text : parts
}

function partOf(block: ContentBlock, losses: Losses): readonly Fields[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text }]
    case "image":
      return [{ type: "image", source: { media_type: block.mimeType, path: dataUrlOf(block) } }]
    case "file":
      lostFile(losses)
      return [{ type: "text", text: `[File: ${block.path}]` }]
    case PART:
      return [block["part"] as Fields]
    default:
      lostBlock(losses)
      return []
  }
}
