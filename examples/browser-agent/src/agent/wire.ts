/** Conversion between messages and the format of chat completions. */
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

/** The used fields of a streamed delta. They come from a server, so none is trusted. */
export interface Delta {
  readonly content?: unknown
  readonly tool_calls?: unknown
  readonly finish?: string
}

interface Collected {
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

export async function collect(deltas: AsyncIterable<Delta>, onText: (text: string) => void): Promise<Collected> {
  const collected: Collected = { text: "", calls: [], finish: undefined }
  for await (const { content, tool_calls: calls, finish } of deltas) {
    if (typeof content === "string" && content !== "") onText((collected.text += content))
    for (const [position, call] of (Array.isArray(calls)
      ? (calls as Partial<WireCall & { index: number }>[])
      : []
    ).entries()) {
      const into = (collected.calls[call.index ?? position] ??= { id: "", name: "", args: "" })
      into.id ||= call.id ?? ""
      into.name += call.function?.name ?? ""
      into.args += call.function?.arguments ?? ""
    }
    collected.finish = finish ?? collected.finish
  }
  if (collected.finish === undefined)
    throw new Error("The connection ended in the middle of the answer. Continue to ask again.")
  return collected
}

const STOP_REASONS: Readonly<Record<string, string>> = { tool_calls: "toolUse", function_call: "toolUse" }

export function fromWire({ text, calls, finish = "stop" }: Collected): Answer {
  const content: ContentBlock[] = text === "" ? [] : [{ type: "text", text }]
  return { content: [...content, ...calls.map(toCall)], stopReason: STOP_REASONS[finish] ?? finish }
}

function toWireCall({ id, name, arguments: args }: ToolCallBlock): WireCall {
  return { id, type: "function", function: { name, arguments: JSON.stringify(args) } }
}

/** Arguments that are not a JSON object are passed on as text; the tool reports what is missing, so that the model can try again. */
function toCall({ id, name, args }: Collected["calls"][number], index: number): ToolCallBlock {
  let parsed: unknown
  try {
    parsed = JSON.parse(args === "" ? "{}" : args)
  } catch {
    parsed = undefined
  }
  const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
  const given = isObject ? (parsed as ToolCallBlock["arguments"]) : { unreadable: args }
  return { type: "toolCall", id: id === "" ? `call_${index}_${Date.now().toString(36)}` : id, name, arguments: given }
}
