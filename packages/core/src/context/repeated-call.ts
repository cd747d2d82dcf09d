/** The loop that models fall into: the same tool call again and again, without anything learned from its result. */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ModelMessage, ToolCallBlock } from "../format/messages.ts"
import { callsOf } from "./sendable.ts"
import type { ContextMessage } from "./types.ts"

/** How many identical calls in a row are a loop. Two are often a sound second try. */
export const REPEATED_CALLS = 3

export interface RepeatedCall {
  readonly name: string
  readonly arguments: ToolCallBlock["arguments"]
  /** How often in a row. */
  readonly count: number
  /** Of the newest. */
  readonly entryId: string
}

/**
 * The call that the conversation is stuck at: the newest one, when the ones just before it have the same name and equal arguments,
 * whatever the order of their keys. Parallel calls count one by one. The row ends where a user says something (what the program
 * puts in between is no user's), or an assistant answers without a call. Undefined for a row shorter than `least`.
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
    const calls = callsOf(message as ModelMessage)
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
  const message = `The tool call ${JSON.stringify(name)} was made ${count} times in a row with the same arguments. Tell the model so, or stop it.`
  return { code: "repeated_call", entryId, message }
}

function isSameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSameJson((a as Fields)[key], (b as Fields)[key]))
  )
}

type Fields = Readonly<Record<string, unknown>>
