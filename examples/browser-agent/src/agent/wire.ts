/** Messages as chat completions have them, and back. */
import type { ContentBlock, ModelMessage, ToolCallBlock } from "@sessions/core"
import { callsOf, textOf } from "./messages.ts"
import type { Answer, ToolDescription } from "./model.ts"

interface WireCall {
  readonly id: string
  readonly type: "function"
  readonly function: { readonly name: string; readonly arguments: string }
}

export type WireMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string | null; readonly tool_calls?: readonly WireCall[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }

/** A piece of an answer, with what is of use of it; all of it is a stranger's. */
export interface Delta {
  readonly content?: unknown
  readonly tool_calls?: unknown
  readonly finish?: string
}

interface Gathered {
  text: string
  readonly calls: { id: string; name: string; args: string }[]
  finish: string | undefined
}

export function toWireMessages(messages: readonly ModelMessage[]): readonly WireMessage[] {
  return messages.map((message): WireMessage => {
    const text = textOf(message.content)
    if (message.role === "toolResult") return { role: "tool", tool_call_id: message.toolCallId, content: text }
    if (message.role !== "assistant") return { role: message.role, content: text }
    const calls = callsOf(message).map(toWireCall)
    if (calls.length === 0) return { role: "assistant", content: text }
    return { role: "assistant", content: text === "" ? null : text, tool_calls: calls }
  })
}

export function toWireTools(tools: readonly ToolDescription[]): readonly object[] {
  return tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }))
}

export async function gather(deltas: AsyncIterable<Delta>, onText: (text: string) => void): Promise<Gathered> {
  const gathered: Gathered = { text: "", calls: [], finish: undefined }
  for await (const { content, tool_calls: calls, finish } of deltas) {
    if (typeof content === "string" && content !== "") onText((gathered.text += content))
    for (const [place, call] of (Array.isArray(calls)
      ? (calls as Partial<WireCall & { index: number }>[])
      : []
    ).entries()) {
      const into = (gathered.calls[call.index ?? place] ??= { id: "", name: "", args: "" })
      into.id ||= call.id ?? ""
      into.name += call.function?.name ?? ""
      into.args += call.function?.arguments ?? ""
    }
    gathered.finish = finish ?? gathered.finish
  }
  if (gathered.finish === undefined)
    throw new Error("The connection ended in the middle of the answer. Continue to ask again.")
  return gathered
}

const STOP_REASONS: Readonly<Record<string, string>> = { tool_calls: "toolUse", function_call: "toolUse" }

export function fromWire({ text, calls, finish = "stop" }: Gathered): Answer {
  const content: ContentBlock[] = text === "" ? [] : [{ type: "text", text }]
  return { content: [...content, ...calls.map(toCall)], stopReason: STOP_REASONS[finish] ?? finish }
}

function toWireCall({ id, name, arguments: args }: ToolCallBlock): WireCall {
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } }
}

/** Arguments that are no JSON go to the tool as they are; it answers what it misses, and the model may try again. */
function toCall({ id, name, args }: Gathered["calls"][number], place: number): ToolCallBlock {
  let parsed: unknown
  try {
    parsed = JSON.parse(args === "" ? "{}" : args)
  } catch {
    parsed = undefined
  }
  const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
  const given = isObject ? (parsed as ToolCallBlock["arguments"]) : { unreadable: args }
  return { type: "toolCall", id: id === "" ? `call_${place}_${Date.now().toString(36)}` : id, name, arguments: given }
}
