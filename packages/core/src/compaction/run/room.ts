/** How much a request has, and the most that its model takes: in tokens, bytes and images. */
import type { Selection } from "../../context/select.ts"
import { placesOf } from "../../context/view/recorded-steps.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { CompactableSession } from "../../session/live-types.ts"
import type { SettingsInWindow } from "../plan/settings.ts"
import { AIM_SHARE } from "./aim.ts"
import { requestSize, sizeLimits, taughtSizes } from "../../compaction-settings/request-size.ts"
import { type Room, unreadOf } from "./room-steps.ts"
import type { SentContext } from "./sent-context.ts"

export function roomOf(
  { state: { log } }: CompactableSession,
  selection: Selection,
  { messages, sizeOf, ruler }: SentContext,
  { window, windows }: SettingsInWindow,
): Room {
  const load = { tokens: ruler.tokens, ...requestSize(messages) }
  const tokens = ruler.limit(window)
  const limits = { tokens, ...sizeLimits(selection, windows, taughtSizes(log, selection, messages)) }
  const aims = {
    tokens: ruler.before + AIM_SHARE * Math.max(0, tokens - ruler.before),
    bytes: AIM_SHARE * limits.bytes,
    images: Math.floor(AIM_SHARE * limits.images),
  }
  const places = placesOf(selection.entries)
  const placeOf = ({ entryId }: ContextMessage): number => places.get(entryId)?.place ?? Number.NEGATIVE_INFINITY
  let last = messages[0]
  for (const item of messages) if (last !== undefined && placeOf(item) > placeOf(last)) last = item
  return { messages, upTo: last?.entryId, placeOf, sizeOf, load, limits, aims }
}

/** No text has more bytes for each unit of the estimate, as JSON. */
const BYTES_PER_UNIT = 24

/** Whether a request may have too many bytes: measuring all messages at each turn would take longer than the rest of the check. */
export function mayHaveManyBytes({ messages, ruler }: SentContext): boolean {
  const isText = ({ type }: { readonly type: string }): boolean =>
    type === "text" || type === "thinking" || type === "toolCall"
  return BYTES_PER_UNIT * ruler.units > FEWEST_BYTES || !messages.every(({ message }) => message.content.every(isText))
}

/** The smallest limit of the table, and of what a refusal is likely to teach. */
const FEWEST_BYTES = 1_000_000

/** Whether there are too many bytes, and what the model has read is in the way: a summary takes the place of nothing else. */
export function isOverBytes({ messages, load, limits }: Pick<Room, "messages" | "load" | "limits">): boolean {
  return load.bytes > limits.bytes && requestSize(unreadOf(messages)).bytes <= limits.bytes
}
