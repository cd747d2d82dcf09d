/** Messages of ours from a step of a trajectory: what was said, and the results in its observation. */
import type { ContentBlock } from "@sessions/core"
import { argumentsOf, type Fields, fieldsOf, imageOfDataUrl, numberOf, stringOf, textBlock } from "../base/values.ts"

/** A part of a content that ours do not have, as it was. */
export const PART = "atif:part"

/** Undefined for a record that is no step. */
export function messagesOf(step: Fields, toolNames: Map<string, string>): readonly Fields[] | undefined {
  const { source } = step
  if (source === "agent") return [agentMessage(step, toolNames), ...resultsOf(step, toolNames)]
  if (source !== "system" && source !== "user") return undefined
  const message = { role: source, content: blocksOf(step["message"]), ...(source === "user" ? copied(step) : {}) }
  const results = resultsOf(step, toolNames)
  return [message, ...(replacesContext(step) ? results.map((result) => ({ ...result, summary: true })) : results)]
}

/** From version 1.7 on a system step may say that its observation takes the place of all before it. */
export function replacesContext({ source, extra }: Fields): boolean {
  return source === "system" && fieldsOf(fieldsOf(extra)["context_management"])["boundary"] === "replace"
}

/** A copy of what was said before: nobody said it again. */
function copied({ is_copied_context: isCopy }: Fields): Fields {
  return isCopy === true ? { synthetic: true } : {}
}

function agentMessage(step: Fields, toolNames: Map<string, string>): Fields {
  const thinking = stringOf(step["reasoning_content"]) ?? ""
  const model = stringOf(step["model_name"])
  // What a copy took was counted before.
  const usage = step["is_copied_context"] === true ? undefined : usageOf(fieldsOf(step["metrics"]))
  const calls = callsOf(step["tool_calls"])
  for (const { id, name } of calls) toolNames.set(id as string, name as string)
  const content = [...(thinking === "" ? [] : [{ type: "thinking", thinking }]), ...blocksOf(step["message"]), ...calls]
  return {
    role: "assistant",
    content,
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
  }
}

function blocksOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  return Array.isArray(content) ? (content as readonly unknown[]).map(blockOf) : []
}

function blockOf(part: unknown): ContentBlock {
  const { type, text, source } = fieldsOf(part)
  if (type === "text" && typeof text === "string") return textBlock(text)
  const image = type === "image" ? imageOfDataUrl(fieldsOf(source)["path"]) : undefined
  return image ?? { type: PART, part }
}

function callsOf(calls: unknown): readonly ContentBlock[] {
  if (!Array.isArray(calls)) return []
  return (calls as readonly unknown[]).map((call) => {
    const { tool_call_id: id, function_name: name, arguments: args } = fieldsOf(call)
    if (typeof id !== "string" || typeof name !== "string") return { type: PART, part: call }
    return { type: "toolCall", id, name, arguments: argumentsOf(args ?? {}) }
  })
}

/** A result that names no call is what the agent was told next: a message for the model that no person wrote. */
function resultsOf({ observation }: Fields, toolNames: ReadonlyMap<string, string>): readonly Fields[] {
  const { results } = fieldsOf(observation)
  const list: readonly unknown[] = Array.isArray(results) ? results : []
  return list.map((result) => {
    const { source_call_id: toolCallId, content: parts, extra } = fieldsOf(result)
    const content = blocksOf(parts)
    if (typeof toolCallId !== "string") return { role: "user", content, synthetic: true }
    const toolName = toolNames.get(toolCallId)
    const name = toolName === undefined ? {} : { toolName }
    return { role: "toolResult", toolCallId, ...name, isError: fieldsOf(extra)["is_error"] === true, content }
  })
}

/** Cached tokens are a part of the prompt's. */
function usageOf(metrics: Fields): Fields | undefined {
  const { prompt_tokens: prompt, completion_tokens: output, cached_tokens: cached, cost_usd: cost } = metrics
  const input = numberOf(prompt)
  const found = {
    input: input === undefined ? undefined : input - (numberOf(cached) ?? 0),
    output: numberOf(output),
    cacheRead: numberOf(cached),
    cost: numberOf(cost),
  }
  const known = Object.entries(found).filter(([, value]) => value !== undefined)
  return known.length === 0 ? undefined : Object.fromEntries(known)
}
