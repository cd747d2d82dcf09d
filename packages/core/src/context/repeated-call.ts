/** Detects a model that repeats the same tool call. */
import type { Diagnostic } from "../format/diagnostics.ts"
import { isSameJson } from "../format/json.ts"
import type { ToolCallBlock } from "../format/message.ts"
import { callsOf } from "./content.ts"
import type { ContextMessage } from "./types.ts"

/** Identical calls in a row that count as a loop. Two are often a reasonable retry. */
export const REPEATED_CALLS = 3

export interface RepeatedCall {
  readonly name: string
  readonly arguments: ToolCallBlock["arguments"]
  /** Number of identical calls in a row. */
  readonly count: number
  /** The entry of the newest call. */
  readonly entryId: string
}

/**
 * Returns the newest call if it and the calls before it have the same name and equal arguments, in any order of keys. Parallel calls
 * count one by one. A user message that is not synthetic, or an assistant message without a call, ends the row. Undefined for fewer
 * than `least` calls.
 */
export function findRepeatedCall(
  messages: readonly ContextMessage[],
  least: number = REPEATED_CALLS,
): RepeatedCall | undefined {
  let newest: { readonly call: ToolCallBlock; readonly entryId: string } | undefined
  let count = 0
  walk: for (let i = messages.length - 1; i >= 0; i--) {
    const { message, entryId, kind } = messages[i] as ContextMessage
    if (message.role === "user" && kind === "message" && message.synthetic !== true) break
    if (message.role !== "assistant") continue
    const calls = callsOf(message)
    if (calls.length === 0) break
    for (const call of calls.toReversed()) {
      newest ??= { call, entryId }
      if (call.name !== newest.call.name || !isSameJson(call.arguments, newest.call.arguments)) break walk
      count++
    }
  }
  if (newest === undefined || count < least) return undefined
  return { name: newest.call.name, arguments: newest.call.arguments, count, entryId: newest.entryId }
}

export function repeatedCallDiagnostic({ name, count, entryId }: RepeatedCall): Diagnostic {
  const message = `The tool call ${JSON.stringify(name)} was made ${count} times in a row with the same arguments. Tell the model, or stop it.`
  return { code: "repeated_call", entryId, message }
}
