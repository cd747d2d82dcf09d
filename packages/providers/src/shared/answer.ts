/** Answers as entries, the calls in them, and the results of calls. */
import {
  type AssistantMessage,
  type ContentBlock,
  SessionError,
  type ToolCallBlock,
  type ToolResultMessage,
  type Usage,
} from "@sessions/core"
import { isKnownBlock } from "@sessions/core/format"
import { type Fields, fieldsOf, numberOf, stringOf } from "@sessions/formats/messages/values"
import { BOOLEAN, checkArgument, checkCall, checkResultOf, type Checks, isBlocks as isContent } from "./check.ts"
import type { AnswerEntry } from "./types.ts"

/** A call whose arguments did not arrive completely: `{id, name, text}`. No request has it. */
export const PARTIAL_CALL = "providers:partial_call"

/** An answer of which the end did not arrive. */
export function isCutOff({ stopReason }: Fields): boolean {
  return stopReason === "aborted" || stopReason === "error"
}

export interface Answer {
  readonly content: readonly ContentBlock[]
  readonly provider: string | undefined
  readonly model: unknown
  readonly usage: Usage | undefined
  readonly stopReason: unknown
  /** The provider's id of the answer. */
  readonly responseId: unknown
}

export function answerEntry({ content, provider, model, usage, stopReason, responseId }: Answer): AnswerEntry {
  const message: AssistantMessage = {
    role: "assistant",
    content,
    ...(provider === undefined ? {} : { provider }),
    ...text("model", model),
    ...(usage === undefined ? {} : { usage }),
    ...text("stopReason", stopReason),
    ...text("responseId", responseId),
  }
  return { type: "message", message }
}

function text(key: string, value: unknown): Fields {
  const found = stringOf(value)
  return found === undefined ? {} : { [key]: found }
}

export function partialCall(id: unknown, name: unknown, received: string): ContentBlock {
  return { type: PARTIAL_CALL, id: stringOf(id) ?? "", name: stringOf(name) ?? "", text: received }
}

/** Usage of numbers; those that are missing are left out. Undefined if all are. */
export function usageOf(counts: Readonly<Record<keyof Usage & string, unknown>>): Usage | undefined {
  const found = Object.entries(counts).flatMap(([key, value]) => {
    const count = numberOf(value)
    return count === undefined ? [] : [[key, count] as const]
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** Tokens of the input without those of which the provider says that they were read from or written to its cache. */
export function uncached(input: unknown, ...cached: readonly unknown[]): number | undefined {
  const all = numberOf(input)
  if (all === undefined) return undefined
  return Math.max(
    0,
    cached.reduce<number>((left, count) => left - (numberOf(count) ?? 0), all),
  )
}

/**
 * The calls that the program has to execute, in their order. None of an answer that was aborted or has failed: the next request gets an error
 * result for each of them.
 */
export function toolCalls(answer: AssistantMessage | AnswerEntry): readonly ToolCallBlock[] {
  const { type, message: inside } = fieldsOf(answer)
  const message = (inside ?? answer) as AssistantMessage
  // A message of Anthropic's API has a type and a content, too.
  const isRight = isContent(fieldsOf(message)["content"]) && (inside !== undefined || type === undefined)
  checkArgument("toolCalls", isRight, "an answer as `from…` and `append…Stream` return it", answer)
  if (isCutOff(message)) return []
  return message.content.filter(
    (block): block is ToolCallBlock => block.type === "toolCall" && block["providerExecuted"] !== true,
  )
}

/** Of the functions that make results. As `toResult` of `@sessions/tool-calls` they also get the entry of the answer, which they do not need. */
export const RESULT: Checks<{ readonly isError?: boolean; readonly answer?: unknown }> = {
  isError: BOOLEAN,
  answer: () => undefined,
}

/** The result of a call as an entry for `session.append`. A value that is no text and no blocks is sent as JSON; `invalid` if it cannot. */
export function toolResult(
  call: Pick<ToolCallBlock, "id" | "name">,
  output: unknown,
  o: { readonly isError?: boolean } = {},
): { readonly type: "message"; readonly message: ToolResultMessage } {
  checkResultOf("toolResult", call, output)
  checkCall("toolResult", o, RESULT)
  const { id: toolCallId, name: toolName } = call
  const content = isBlocks(output) ? output : [{ type: "text" as const, text: textOfOutput(output, call.name) }]
  return {
    type: "message",
    message: { role: "toolResult", toolCallId, toolName, isError: o.isError === true, content },
  }
}

function isBlocks(output: unknown): output is readonly ContentBlock[] {
  const types: readonly unknown[] = ["text", "image", "file"]
  return (
    Array.isArray(output) &&
    output.length > 0 &&
    // A tool may return a list of its own objects that have such types.
    output.every((block: Fields | null) => types.includes(block?.["type"]) && isKnownBlock(block as ContentBlock))
  )
}

function textOfOutput(output: unknown, tool: string): string {
  if (typeof output === "string") return output
  if (output instanceof Error) return output.message
  try {
    return JSON.stringify(output) ?? ""
  } catch (cause) {
    throw new SessionError("invalid", `The output of the tool ${tool} cannot be written as JSON.`, { cause })
  }
}

/** What an error says, which may be any value. */
export function errorText(error: unknown): string {
  const message = typeof error === "string" ? error : fieldsOf(error)["message"]
  if (typeof message === "string") return message
  try {
    return JSON.stringify(error) ?? String(error)
  } catch {
    return "unknown error"
  }
}
