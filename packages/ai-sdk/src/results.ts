/** Results of calls that `@sessions/tool-calls` runs, which are in the log before the chat is saved with them. */
import type { Entry, ToolResultMessage } from "@sessions/core"
import { type ResultFields, resultDraft, type StepFields } from "./entries.ts"
import { isObject } from "./json.ts"
import { isTool, type Part } from "./parts.ts"

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
