/** Results of calls that `@sessions/tool-calls` runs, which are in the log before the SDK adds its items. */
import type { NewMessage, Session, ToolResultMessage } from "@sessions/core"
import { readHistory } from "./history.ts"
import { isObject, type ItemEntry, toEntry } from "./items.ts"

/**
 * Makes the entry of a result as an item of the SDK: the option `toResult` of `createToolCalls`, so that the history has the results of
 * the calls that it runs. An output that is no text is stored as JSON.
 */
export function agentResult(
  { id, name }: { readonly id: string; readonly name: string },
  output: unknown,
  { isError }: { readonly isError: boolean },
): ItemEntry & { readonly message: ToolResultMessage } {
  const item = {
    type: "function_call_result",
    name,
    callId: id,
    status: "completed",
    output: { type: "text", text: textOf(output) },
  }
  const entry = toEntry(item)
  return { ...entry, message: { ...(entry.message as ToolResultMessage), isError } }
}

function textOf(output: unknown): string {
  if (typeof output === "string") return output
  if (output instanceof Error) return output.message
  return JSON.stringify(output) ?? ""
}

/**
 * The entries without the results of calls that have one, and of those that were started and have none: what a run has in the place of one is no result.
 * It was stopped within the call, or a person has rejected it since. The SDK adds a call and its result apart if the call has waited for approval.
 */
export async function withoutAnswered(session: Session, entries: readonly ItemEntry[]): Promise<readonly ItemEntry[]> {
  const added = new Set(entries.flatMap(({ message }) => callIdsOf(message)))
  const isApart = ({ message }: ItemEntry): boolean => message.role === "toolResult" && !added.has(message.toolCallId)
  if (!entries.some(isApart)) return entries
  await session.refresh()
  const { entries: history } = await readHistory(session, Number.POSITIVE_INFINITY)
  /** Calls whose last result is one of `@sessions/tool-calls`, which names its run, or is still to come. */
  const answered = new Set<unknown>()
  for (const { message, run } of history as readonly { readonly message?: unknown; readonly run?: unknown }[]) {
    if (!isObject(message)) continue
    for (const id of callIdsOf(message)) answered.delete(id)
    if (message["role"] === "toolResult" && typeof run === "string") answered.add(message["toolCallId"])
  }
  const states = await session.callStates()
  for (const { state, callId } of states?.calls ?? [])
    if (state === "unknown" || state === "running") answered.add(callId)
  return entries.filter((entry) => !isApart(entry) || !answered.has((entry.message as ToolResultMessage).toolCallId))
}

function callIdsOf({ role, content }: NewMessage | Readonly<Record<string, unknown>>): readonly unknown[] {
  if (role !== "assistant" || !Array.isArray(content)) return []
  return (content as readonly unknown[]).flatMap((block) =>
    isObject(block) && block["type"] === "toolCall" ? [block["id"]] : [],
  )
}
