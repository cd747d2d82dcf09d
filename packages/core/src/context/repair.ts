/**
 * Makes a context sendable: every tool call gets exactly one result, after it and before the next user or assistant message, every
 * result has a call, and no message is empty. Providers reject any other context with status 400. The log is not changed.
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import type {
  AssistantMessage,
  ContentBlock,
  ModelMessage,
  ToolCallBlock,
  ToolResultMessage,
} from "../format/message.ts"
import { callsOf } from "./content.ts"
import type { ContextMessage, RepairMode } from "./types.ts"

type Item = ContextMessage<ModelMessage>

export interface Repaired {
  readonly messages: readonly Item[]
  readonly diagnostics: readonly Diagnostic[]
}

export const NO_RESULT_TEXT = "No result was recorded for this tool call."

export function repairMessages(messages: readonly Item[], mode: RepairMode): Repaired {
  if (mode === "none" || isSendable(messages)) return { messages, diagnostics: [] }
  const diagnostics: Diagnostic[] = []
  const report = (item: Item, what: string): void => {
    diagnostics.push({ code: "repaired", entryId: item.entryId, message: `Entry ${item.entryId}: ${what}.` })
  }
  const resultsOf = matchResults(messages, report)
  const turns = countTurns(messages)
  const out: Item[] = []
  for (const [index, item] of messages.entries()) {
    if (item.message.role === "toolResult") continue
    const results = resultsOf.get(index) ?? []
    const missing = callsOf(item.message).filter((_, call) => results[call] === undefined)
    const dropped = new Set(mode === "drop" ? missing : missing.filter((call) => typeof call.id !== "string"))
    if (dropped.size > 0) report(item, `${dropped.size} tool call(s) without a result are left out`)
    const kept = dropped.size === 0 ? item : withoutCalls(item, dropped)
    if (kept.message.content.length > 0) out.push(kept)
    else if (dropped.size === 0) report(item, `a message of role ${item.message.role} without content is left out`)
    const present = results.filter((result) => result !== undefined).sort((a, b) => a - b)
    for (const result of present) {
      if (turns[result] !== turns[index + 1])
        report(messages[result] as Item, "a tool result is moved directly after its call")
      out.push(messages[result] as Item)
    }
    for (const call of missing) if (!dropped.has(call)) out.push(synthesized(item, call, report))
  }
  return { messages: out, diagnostics }
}

/** Whether nothing needs repair, as in most contexts: every result directly follows its call, every message has content. */
export function isSendable(messages: readonly ContextMessage<ModelMessage>[]): boolean {
  let openCalls: string[] = []
  for (const { message } of messages) {
    if (message.role === "toolResult") {
      const call = openCalls.indexOf(message.toolCallId)
      if (call < 0) return false
      openCalls.splice(call, 1)
      continue
    }
    if (openCalls.length > 0 || message.content.length === 0) return false
    if (message.role !== "assistant") continue
    openCalls = []
    for (const { type, id } of message.content as readonly ToolCallBlock[]) {
      if (type !== "toolCall") continue
      if (typeof id !== "string") return false
      openCalls.push(id)
    }
  }
  return openCalls.length === 0
}

/**
 * For each message with calls: the index of each call's result. A result belongs to the nearest assistant message before it with its
 * id, since local models reuse ids. If that call already has a result, or there is no call, the result is left out.
 */
function matchResults(
  messages: readonly Item[],
  report: (item: Item, what: string) => void,
): Map<number, (number | undefined)[]> {
  const results = new Map<number, (number | undefined)[]>()
  /** Index of the nearest assistant message so far with a call of this id. */
  const nearest = new Map<string, number>()
  for (const [index, item] of messages.entries()) {
    const calls = callsOf(item.message)
    if (calls.length > 0) results.set(index, new Array(calls.length).fill(undefined))
    for (const call of calls) if (typeof call.id === "string") nearest.set(call.id, index)
    if (item.message.role !== "toolResult") continue
    const { toolCallId } = item.message
    const owner = nearest.get(toolCallId)
    const slots = owner === undefined ? undefined : results.get(owner)
    const owned = owner === undefined ? [] : callsOf((messages[owner] as Item).message)
    const free = owned.findIndex((call, at) => call.id === toolCallId && slots?.[at] === undefined)
    if (free >= 0 && slots !== undefined) slots[free] = index
    else
      report(
        item,
        owner === undefined ? "a tool result without a call is left out" : "a second result of one call is left out",
      )
  }
  return results
}

function withoutCalls(item: Item, calls: ReadonlySet<ContentBlock>): Item {
  const message = item.message as AssistantMessage
  const content = message.content.filter((block) => !calls.has(block))
  return { ...item, message: { ...message, content } }
}

/** The number of user and assistant messages before each index: equal for a call and its result if none is between them. */
function countTurns(messages: readonly Item[]): readonly number[] {
  const counts = [0]
  for (const { message } of messages) {
    const turn = message.role === "user" || message.role === "assistant" ? 1 : 0
    counts.push((counts.at(-1) as number) + turn)
  }
  return counts
}

function synthesized(item: Item, call: ToolCallBlock, report: (item: Item, what: string) => void): Item {
  report(item, `the tool call ${JSON.stringify(call.id)} has no result; an error result was added for the model`)
  const content: readonly ContentBlock[] = [{ type: "text", text: NO_RESULT_TEXT }]
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    isError: true,
    content,
  }
  return { entryId: item.entryId, kind: "repair", message }
}
