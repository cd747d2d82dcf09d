/**
 * Steps of a trajectory from messages. The results of an assistant's calls are the observation of its step; a summary is a system step, and
 * the last one says that the context begins there.
 */
import type {
  AssistantMessage,
  ContentBlock,
  ModelMessage,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultMessage,
  Usage,
} from "@sessions/core"
import type { WrittenMessage } from "../base/list-format.ts"
import { lostAttachments, lostBlock, lostFile, lostResult, lostSignature } from "../base/lost.ts"
import { Losses } from "../base/losses.ts"
import { dataUrlOf, type Fields, fieldsOf, numberOf } from "../base/values.ts"
import { PART } from "./read.ts"

type Step = Record<string, unknown>

export function recordsOf(messages: readonly WrittenMessage[], losses: Losses, base?: Fields): readonly Fields[] {
  const steps: Step[] = []
  /** The results of the step that has a call without one. */
  const open = new Map<string, Step>()
  for (const written of messages) {
    const { message } = written
    // What a copy loses is counted with the message itself.
    const counted = written.isCopy === true ? new Losses() : losses
    lostAttachments(message, counted)
    const begins = written.begins === true
    const isSummary = message.role === "user" && (written.type === "compaction" || (begins && message.summary === true))
    if (begins) steps.push(boundaryOf(written, isSummary ? message.content : [], counted))
    if (message.role === "toolResult") {
      const step = open.get(message.toolCallId)
      open.delete(message.toolCallId)
      if (step === undefined) lostResult(counted)
      else addResult(step, resultOf(message, counted))
      continue
    }
    if (begins && isSummary) continue
    const step = stepOf(written, message, isSummary, counted)
    steps.push(step)
    for (const block of message.content) if (block.type === "toolCall") open.set(block.id, step)
  }
  const [first, ...rest] = steps
  if (first === undefined || base === undefined) return steps
  // What it observed is among the messages.
  const { observation: _, ...fields } = base
  return [{ ...fields, ...first }, ...rest]
}

function stepOf(
  { timestamp, isCopy }: WrittenMessage,
  message: Exclude<ModelMessage, ToolResultMessage>,
  isSummary: boolean,
  losses: Losses,
): Step {
  const copy = isCopy === true ? { is_copied_context: true } : {}
  if (message.role !== "assistant")
    return {
      timestamp,
      source: isSummary ? "system" : message.role,
      message: contentOf(message.content, losses),
      ...copy,
    }
  const { usage: _, ...free } = message
  return { timestamp, source: "agent", ...agentFields(isCopy === true ? free : message, losses), ...copy }
}

/** The agent goes on with this summary, and without what is before it. */
function boundaryOf({ timestamp }: WrittenMessage, summary: readonly ContentBlock[], losses: Losses): Step {
  const management = { type: "compaction", boundary: "replace" }
  const results = summary.length === 0 ? [] : [{ content: contentOf(summary, losses) }]
  return {
    timestamp,
    source: "system",
    message: "",
    ...(results.length === 0 ? {} : { observation: { results } }),
    extra: { context_management: management },
  }
}

function addResult(step: Step, result: Fields): void {
  const { results = [] } = (step["observation"] ?? {}) as { readonly results?: readonly Fields[] }
  step["observation"] = { results: [...results, result] }
}

/** The format has no field that says whether a tool has failed. */
function resultOf({ toolCallId, content, isError }: ToolResultMessage, losses: Losses): Fields {
  const result = { source_call_id: toolCallId, content: contentOf(content, losses) }
  return isError ? { ...result, extra: { is_error: true } } : result
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
      if (!IMAGE_TYPES.has(block.mimeType)) {
        lostBlock(losses)
        return []
      }
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

/** The types of images that readers take. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])
