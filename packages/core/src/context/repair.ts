/**
 * Makes a context sendable: every message has only blocks that providers accept and is not empty, every tool call gets exactly one result,
 * after it and before the next user or assistant message, and every result has a call. Providers reject any other context with status
 * 400. The log is not changed.
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
import { namedCall, namedTarget } from "./named-call.ts"
import { Sendable } from "./sendable.ts"
import { validMessage } from "./valid-blocks.ts"
import type { ContextMessage, RepairMode } from "./types.ts"

type Item = ContextMessage<ModelMessage>
type Report = (item: Item, what: string) => void

export interface Repaired {
  readonly messages: readonly Item[]
  readonly diagnostics: readonly Diagnostic[]
}

/** A call without a result: the entry of its message, its id there, and its place among the calls with this id. */
export type MissingResult = (entryId: string, callId: string, nth: number) => string

const NO_RESULT_TEXT = "No result was recorded for this tool call."

/** The text for a call without a result. */
export function missingResultText({ state, key }: { readonly state: string; readonly key?: string }): string {
  switch (state) {
    case "waiting":
      return "This tool call did not start. It may be called again."
    case "repeatable":
      return `${NO_RESULT_TEXT} It may be called again.`
    case "unknown":
      return `This tool call was started, and its outcome is unknown. Check whether it took effect before you call it again.${key === undefined ? "" : ` Its key is ${key}.`}`
    default:
      return NO_RESULT_TEXT
  }
}

/** Whether no message needs repair. */
function isSendable(messages: readonly Item[]): boolean {
  const sendable = new Sendable()
  return messages.every(({ message }) => sendable.takes(message)) && sendable.isWhole
}

/** `textOf`: of the error result that a call without a result gets. Default: that none was recorded. */
export function repairMessages(
  messages: readonly Item[],
  mode: RepairMode,
  textOf: MissingResult = () => NO_RESULT_TEXT,
): Repaired {
  if (mode === "none" || isSendable(messages)) return { messages, diagnostics: [] }
  const diagnostics: Diagnostic[] = []
  const report: Report = (item, what) => {
    diagnostics.push({ code: "repaired", entryId: item.entryId, message: `Entry ${item.entryId}: ${what}.` })
  }
  const renamed = new Map<ContentBlock, string>()
  const items = messages.map((item) => {
    const { message, changes } = validMessage(item.message, renamed)
    for (const change of changes) report(item, change)
    return message === item.message ? item : { ...item, message }
  })
  const resultsOf = matchResults(items, renamed, report)
  const turns = countTurns(items)
  const out: Item[] = []
  for (const [index, item] of items.entries()) {
    if (item.message.role === "toolResult") continue
    const calls = callsOf(item.message)
    const results = resultsOf.get(index) ?? []
    const dropped = new Set(mode === "drop" ? calls.filter((_, call) => results[call] === undefined) : [])
    if (dropped.size > 0) report(item, `${dropped.size} tool call(s) without a result are left out`)
    const kept = dropped.size === 0 ? item : withoutCalls(item, dropped)
    if (kept.message.content.length > 0) out.push(kept)
    else if (dropped.size === 0) report(item, `a message of role ${item.message.role} without content is left out`)
    const present = results.flatMap((result, call) => (result === undefined ? [] : [{ result, call }]))
    for (const { result, call } of present.sort((a, b) => a.result - b.result)) {
      const found = items[result] as Item
      if (turns[result] !== turns[index + 1]) report(found, "a tool result is moved directly after its call")
      out.push(withCallId(found, (calls[call] as ToolCallBlock).id))
    }
    const before = new Map<string, number>()
    for (const [at, call] of calls.entries()) {
      const id = renamed.get(call) ?? call.id
      const nth = before.get(id) ?? 0
      before.set(id, nth + 1)
      if (results[at] === undefined && !dropped.has(call))
        out.push(synthesized(item, call, textOf(item.entryId, id, nth), report))
    }
  }
  return { messages: out, diagnostics }
}

/** The calls of one message that share an id, also those that had it before they were renamed. */
interface CallsOfId {
  /** Index of the message. */
  readonly owner: number
  /** All calls of the message. */
  readonly blocks: readonly ToolCallBlock[]
  readonly calls: number[]
  /** Those before have a result. */
  next: number
}

/**
 * For each message with calls: the index of each call's result. A result belongs to the assistant message that it names, else to the nearest one
 * before it with its id, since local models reuse ids; of several calls with it, to the one that it names, else to the first without a result. If all
 * have one, or there is no call, the result is left out.
 */
function matchResults(
  messages: readonly Item[],
  renamed: ReadonlyMap<ContentBlock, string>,
  report: Report,
): Map<number, (number | undefined)[]> {
  const results = new Map<number, (number | undefined)[]>()
  const nearest = new Map<string, CallsOfId>()
  const byMessage = new Map<string, ReadonlyMap<string, CallsOfId>>()
  for (const [owner, item] of messages.entries()) {
    const calls = callsOf(item.message)
    if (calls.length > 0) {
      const own = callsById(owner, calls, renamed)
      results.set(owner, new Array(calls.length).fill(undefined))
      byMessage.set(item.entryId, own)
      for (const [id, found] of own) nearest.set(id, found)
    }
    if (item.message.role !== "toolResult") continue
    const { toolCallId } = item.message
    const found = byMessage.get(namedTarget(item.entryId) ?? "")?.get(toolCallId) ?? nearest.get(toolCallId)
    const slots = found === undefined ? [] : (results.get(found.owner) as (number | undefined)[])
    while (found !== undefined && slots[found.calls[found.next] ?? -1] !== undefined) found.next++
    const named = found && namedCall(item.entryId, (messages[found.owner] as Item).entryId)
    const block = named === undefined ? undefined : found?.blocks[named]
    const isIts = block !== undefined && (renamed.get(block) ?? block.id) === toolCallId
    const free = isIts && slots[named as number] === undefined ? named : found?.calls[found.next]
    if (free !== undefined) slots[free] = owner
    else
      report(
        item,
        found === undefined ? "a tool result without a call is left out" : "a second result of one call is left out",
      )
  }
  return results
}

function callsById(
  owner: number,
  blocks: readonly ToolCallBlock[],
  renamed: ReadonlyMap<ContentBlock, string>,
): ReadonlyMap<string, CallsOfId> {
  const own = new Map<string, CallsOfId>()
  for (const [at, call] of blocks.entries()) {
    for (const id of new Set([call.id, renamed.get(call) ?? call.id])) {
      const known = own.get(id)
      if (known === undefined) own.set(id, { owner, blocks, calls: [at], next: 0 })
      else known.calls.push(at)
    }
  }
  return own
}

/** The result of a call that was renamed has the new id. */
function withCallId(item: Item, toolCallId: string): Item {
  const message = item.message as ToolResultMessage
  return message.toolCallId === toolCallId ? item : { ...item, message: { ...message, toolCallId } }
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

function synthesized(item: Item, call: ToolCallBlock, text: string, report: Report): Item {
  report(item, `the tool call ${JSON.stringify(call.id)} has no result; an error result was added for the model`)
  const content: readonly ContentBlock[] = [{ type: "text", text }]
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    isError: true,
    content,
  }
  return { entryId: item.entryId, kind: "repair", message }
}
