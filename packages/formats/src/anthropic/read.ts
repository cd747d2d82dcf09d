/** Messages of ours from those of Anthropic's API. */
import { type Fields, stringOf } from "../base/values.ts"
import { blocksOf, isToolResult, resultOf, usageOf } from "../claude-code/blocks.ts"

/** The results of tools in a user's message are messages of their own, before its other blocks. Undefined: it is no message. */
export function messagesOf(record: Fields, toolNames: Map<string, string>): readonly Fields[] | undefined {
  const { role, content } = record
  if (typeof content !== "string" && !Array.isArray(content)) return undefined
  if (role === "assistant") return [assistantOf(record, toolNames)]
  if (role === "system") return [{ role, content: blocksOf(content) }]
  if (role !== "user") return undefined
  const list: readonly unknown[] = Array.isArray(content) ? content : []
  const results = list.filter(isToolResult).map((block) => resultOf(block, toolNames.get(String(block["tool_use_id"]))))
  const others = blocksOf(typeof content === "string" ? content : list.filter((block) => !isToolResult(block)))
  const isOnlyResults = results.length > 0 && others.length === 0
  return [...results, ...(isOnlyResults ? [] : [{ role, content: others }])] as readonly object[] as readonly Fields[]
}

/** Thinking is signed by Anthropic, which has to get it back. */
function assistantOf(record: Fields, toolNames: Map<string, string>): Fields {
  const content = blocksOf(record["content"])
  for (const block of content) if (block.type === "toolCall") toolNames.set(block.id, block.name)
  const model = stringOf(record["model"])
  const usage = usageOf(record["usage"])
  const stopReason = stringOf(record["stop_reason"])
  return {
    role: "assistant",
    content,
    provider: "anthropic",
    ...(model === undefined ? {} : { model }),
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === undefined ? {} : { stopReason }),
  }
}
