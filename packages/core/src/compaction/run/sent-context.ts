/** The context of a session as its model gets it, and its size, for the decisions of compaction. */
import { changesOf } from "../../context/changed-units.ts"
import type { StepChange } from "../../context/changes.ts"
import { pruneSizes } from "../../context/prune/sent-sizes.ts"
import { estimatesOf, renderMessages } from "../../context/render.ts"
import { measure, type Ruler } from "../../context/ruler.ts"
import type { Selection } from "../../context/select.ts"
import type { PruneSizes } from "../../context/shortening.ts"
import type { ContextMessage, SelectedEntry } from "../../context/types.ts"
import { viewOf } from "../../context/view/view.ts"
import type { ModelMessage } from "../../format/message.ts"
import type { ReadableSession } from "../../session/live-types.ts"
import { restoreSelected, restoreState } from "../../session/read-path.ts"
import type { CallOptions } from "../../storage/contract.ts"
import { sendable } from "../plan/plan-compaction.ts"
import type { SettingsInWindow } from "../plan/settings.ts"
import { knownWindow } from "../../compaction-settings/windows.ts"

export interface SentContext {
  /** With their blobs. */
  readonly entries: readonly SelectedEntry[]
  /** The messages as they are sent. */
  readonly messages: readonly ContextMessage<ModelMessage>[]
  /** Changes that recorded steps have made to them. */
  readonly steps: readonly StepChange[]
  /** Its `sizeOf` knows the messages of `entries` by what is sent of them. */
  readonly ruler: Ruler
  /** Tokens of any form of a message. */
  readonly sizeOf: Ruler["sizeOf"]
  /** The size at which the session is due: that of the settings, or the most that the model takes if that is less. */
  readonly due: number
}

/** With shortened results if the settings say so, and shortened as recorded steps say. */
export async function sentContext(
  live: ReadableSession,
  selection: Selection,
  settings: SettingsInWindow,
  o: CallOptions,
): Promise<SentContext> {
  const { shorten, window, limit, countTokens: count, overheadTokens } = settings
  const { log } = live.state
  const { entries } = await restoreSelected(live, selection.entries, o)
  const from = { ...selection, state: await restoreState(live, selection, o) }
  const rendered = renderMessages(entries)
  const whole = sendable(rendered.messages)
  const sizes = (): PruneSizes => pruneSizes(log, from, whole, { window, count, overheadTokens })
  const view = viewOf<ModelMessage>(log, selection, { shorten, sizes, window: knownWindow(selection, settings) })(whole)
  const estimate = estimatesOf(log, rendered)
  const known = { messages: view.messages, tokens: view.messages.map(({ message }) => estimate(message)) }
  const ruler = measure(log, from, view, { count, overheadTokens, known, changesOf })
  return {
    entries,
    messages: view.messages,
    steps: view.steps ?? [],
    ruler: inView(ruler, view.steps),
    sizeOf: ruler.sizeOf,
    due: Math.min(limit, ruler.limit(window)),
  }
}

/** A message that recorded steps shorten has the size of what is sent of it. */
function inView(ruler: Ruler, steps: readonly StepChange[] = []): Ruler {
  if (steps.length === 0) return ruler
  const sent = new Map<string, StepChange>()
  for (const change of steps)
    if (change.until === undefined) sent.set(keyOf({ entryId: change.entryId, message: change.before }), change)
  return {
    ...ruler,
    sizeOf(item) {
      const change = sent.get(keyOf(item))
      if (change === undefined) return ruler.sizeOf(item)
      return change.after === undefined ? 0 : ruler.sizeOf({ ...item, message: change.after })
    },
  }
}

/** A result that was invented for a call has the entry of the call. */
function keyOf({ entryId, message }: Pick<ContextMessage, "entryId" | "message">): string {
  return `${message.role === "toolResult" ? "result" : "message"} ${entryId}`
}
