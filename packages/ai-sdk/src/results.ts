/** Results of calls that `@sessions/tool-calls` runs, which are in the log before the chat is saved with them. */
import type { Entry, Session, ToolResultMessage } from "@sessions/core"
import { type ResultFields, resultDraft, type StepFields } from "./entries.ts"
import { isEqual, isObject } from "./json.ts"
import { isFinished, isTool, type Part } from "./parts.ts"
import { isResult, readMessages } from "./read.ts"
import type { ChatMessage } from "./types.ts"

export type ChatResult = {
  readonly type: "message"
  readonly message: ToolResultMessage
  readonly ui?: ResultFields
}

/**
 * Makes the entry of a result as the chat has it: the option `toResult` of `createToolCalls`, so that `loadChat` gives the results of the calls
 * that it runs. `answer` is the entry of the step with the call.
 */
export function chatResult(
  { id: toolCallId, name }: { readonly id: string; readonly name: string },
  output: unknown,
  { isError, answer: { ui } }: { readonly isError: boolean; readonly answer: Entry },
): ChatResult {
  const { id = "", from = 0, parts = [] } = (isObject(ui) ? ui : {}) as Partial<StepFields>
  const index = parts.findIndex((part) => isTool(part) && part["toolCallId"] === toolCallId)
  const part: Part = parts[index] ?? { type: `tool-${name}`, toolCallId }
  const draft = resultDraft(id, from + index, {
    ...part,
    ...(isError
      ? { state: "output-error", errorText: String(output) }
      : { state: "output-available", output: output ?? null }),
  })
  const message = draft.message as ToolResultMessage
  // The answer of another program is no message of the chat.
  return { type: "message", message, ...(index < 0 ? {} : { ui: draft.ui as ResultFields }) }
}

/**
 * The messages with the results that runs have given: of two requests that execute one call, as when it is approved twice, one is refused, and has
 * an error in the place of the result.
 */
export function withResultsOfRuns(path: readonly Entry[], messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const places = new Map<string, Set<number>>()
  for (const { ui, run } of path as readonly (Entry & { readonly ui?: unknown; readonly run?: unknown })[])
    if (typeof run === "string" && isResult(ui)) places.set(ui.id, (places.get(ui.id) ?? new Set()).add(ui.of))
  if (places.size === 0) return messages
  const stored = new Map(readMessages(path).map(({ message }) => [message.id, message.parts]))
  return messages.map((message) => {
    const given = places.get(message.id)
    if (given === undefined) return message
    const parts = message.parts.map((part, index) => {
      const known = given.has(index) ? stored.get(message.id)?.[index] : undefined
      return known === undefined || !isFinished(part) || isSameResult(known, part) ? part : known
    })
    return { ...message, parts }
  })
}

function isSameResult(one: Part, other: Part): boolean {
  return ["toolCallId", "state", "output", "errorText"].every((field) => isEqual(one[field], other[field]))
}

/**
 * The entry of the last step, and its calls that were started and have no result. What a request has in the place of one is no result: it was refused the
 * call, or stopped within it.
 */
export interface OpenCalls {
  readonly entryId: string
  readonly callIds: ReadonlySet<string>
}

export async function openCalls(session: Session): Promise<OpenCalls | undefined> {
  const states = await session.callStates()
  const open = states?.calls.filter(({ state }) => state === "unknown" || state === "running") ?? []
  return states && { entryId: states.entryId, callIds: new Set(open.map(({ callId }) => callId)) }
}
