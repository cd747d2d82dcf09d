/** Reference implementation of the cut points of a history, as simple as possible. */
import type { KeepRule } from "../src/compaction/plan/cut-point.ts"
import { estimateMessage } from "../src/format/tokens.ts"
import type { Message } from "../src/format/message.ts"

/** The cut that the rules require, or undefined. */
export function expectedCut(messages: readonly Message[], keep: KeepRule): number | undefined {
  const wanted = wantedCut(messages, keep)
  if (wanted === 0) return undefined
  const pairs = pairsOf(messages)
  const waiting = waitingCalls(messages)
  const isValid = (place: number): boolean =>
    messages[place]?.role !== "toolResult" &&
    pairs.every(([call, answer]) => !(call < place && place <= answer)) &&
    waiting.every((call) => place <= call)
  const places = Array.from({ length: messages.length + 1 }, (_, place) => place)
  const valid = places.filter((place) => place > 0 && isValid(place))
  const behind = valid.find((place) => place >= wanted && (place < messages.length || wanted === messages.length))
  const before = valid.findLast((place) => place <= wanted)
  return keep.kind === "tokens" ? (behind ?? before) : before
}

/** A result belongs to the nearest assistant message before it that has a call of its id, if that call has none yet. */
export function pairsOf(messages: readonly Message[]): (readonly [call: number, result: number])[] {
  const pairs: (readonly [number, number])[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role !== "toolResult") continue
    const wanted = message["toolCallId"]
    const call = messages.findLastIndex((one, before) => before < at && idsOf(one).includes(wanted))
    const taken = pairs.filter(([of, by]) => of === call && messages[by]?.["toolCallId"] === wanted).length
    if (call >= 0 && taken < idsOf(messages[call] as Message).filter((one) => one === wanted).length)
      pairs.push([call, at])
  }
  return pairs
}

/** The calls without a result of the last user or assistant message. */
export function waitingCalls(messages: readonly Message[]): number[] {
  const last = messages.findLastIndex(({ role }) => role === "user" || role === "assistant")
  const ids = last < 0 ? [] : idsOf(messages[last] as Message)
  const answered = pairsOf(messages).filter(([call]) => call === last).length
  return answered < ids.length ? [last] : []
}

/** The newest position with at least the tokens to keep behind it; 0 if everything is to be kept. */
function wantedCut(messages: readonly Message[], { kind, count }: KeepRule): number {
  const places = Array.from({ length: messages.length + 1 }, (_, place) => place)
  const keptFrom = (place: number): number => {
    const kept = messages.slice(place)
    if (kind === "tokens") return kept.reduce((sum, one) => sum + estimateMessage(one), 0)
    const turns = kept.filter(({ role, synthetic }) => role === "user" && synthetic !== true)
    return kind === "turns" ? turns.length : kept.length
  }
  return places.findLast((place) => keptFrom(place) >= count) ?? 0
}

function idsOf(message: Message): string[] {
  return (message.role === "assistant" ? (message.content ?? []) : []).flatMap((block) =>
    block.type === "toolCall" ? [block["id"]] : [],
  )
}
