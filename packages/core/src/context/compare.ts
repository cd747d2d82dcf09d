/** Compares a context with the request of its last answer, message by message, where an edit, a deletion or pruning may have changed it. */
import type { Entry } from "../format/entry.ts"
import { isSameJson } from "../format/json.ts"
import { EntryLog, type EntrySlot } from "../log/entry-log.ts"
import { type NeedsOlder, OLDER, parentOf } from "../log/path.ts"
import type { Seq } from "../storage/contract.ts"
import type { StepChange } from "./changes.ts"
import type { CommonPart, LastRequest } from "./reused.ts"
import { selectContext, type Selection } from "./select.ts"
import type { BreakReason, ContextMessage, PrunedResult, Reused } from "./types.ts"

/** Messages before and after they were pruned and shortened. */
export interface View {
  readonly whole: readonly ContextMessage[]
  readonly messages: readonly ContextMessage[]
  readonly pruned?: readonly PrunedResult[]
  readonly steps?: readonly StepChange[]
}

/** The selection for the request of an answer: the path before it, in the log as it was then. */
export function selectBefore(
  log: EntryLog,
  answer: Seq,
  header?: Parameters<typeof selectContext>[2],
): Selection | NeedsOlder {
  const leaf = parentOf(log, answer)
  if (leaf === OLDER) return { older: true }
  const slots: EntrySlot[] = []
  for (let seq = log.from; seq < answer; seq++) slots.push(log.at(seq))
  return selectContext(EntryLog.of(slots, log.from), leaf < 0 ? null : leaf, header)
}

/** The part that a context has in common with the one `before` its last answer, and the cause of the first difference. */
export function commonPart(
  log: EntryLog,
  selection: Selection,
  request: LastRequest,
  before: View,
  now: View,
): CommonPart {
  const same = commonPrefix(before.messages, now.messages)
  const { brokenBy } = request
  if (same === before.messages.length) return { same, brokenBy }
  const changed = now.messages[same]
  const was = before.messages[same]
  const cut = now.pruned?.find(
    ({ entryId, toolCallId }) => entryId === changed?.entryId && toolCallId === changed.message["toolCallId"],
  )
  const wholeSame = commonPrefix(before.whole, now.whole)
  const recorded = now.steps?.findLast(
    ({ entryId, at, until }) =>
      until === undefined &&
      at > (request.answer?.seq ?? -1) &&
      (entryId === was?.entryId || entryId === changed?.entryId),
  )
  const byStep: Reused["brokenBy"] = recorded && { entryId: recorded.since, reason: "step" }
  if (byStep !== undefined && wholeSame === before.whole.length) return { same, brokenBy: byStep }
  // An edit may have moved the steps before the answer, too.
  const isLater = (id: string): boolean => request.answer?.tail.some(({ entry }) => entry.id === id) ?? false
  const isStep = cut !== undefined && (wholeSame === before.whole.length || (same < wholeSame && isLater(cut.since)))
  if (isStep) return { same, brokenBy: { entryId: cut.since, reason: "prune" } }
  const { answer } = request
  const id = answer?.tail[0]?.entry.id
  const place = now.whole.findLastIndex(({ entryId, message }) => entryId === id && message.role === "assistant")
  // Results behind the answer are in their place.
  const here = now.whole.slice(wholeSame, place < 0 ? undefined : place)
  const cause = answer && causeOf(log, selection, answer, before.whole[wholeSame], here)
  return { same, brokenBy: cause ?? byStep ?? brokenBy }
}

/** The number of messages that both begin with. */
function commonPrefix(before: readonly ContextMessage[], now: readonly ContextMessage[]): number {
  let same = 0
  for (; same < before.length; same++) {
    const [one, other] = [before[same]?.message, now[same]?.message]
    if (one !== other && !isSameJson(one, other)) break
  }
  return same
}

/** The entry after the answer that changed or removed a message, or put one before it. */
function causeOf(
  log: EntryLog,
  { entries }: Selection,
  { seq, tail }: NonNullable<LastRequest["answer"]>,
  was: ContextMessage | undefined,
  here: readonly ContextMessage[],
): Reused["brokenBy"] {
  const isHere = (id: unknown): boolean => id === was?.entryId || id === here[0]?.entryId
  const edits = entries.filter(({ edit }) => (edit?.seq ?? -1) > seq)
  const tombstones: Entry[] = []
  for (let at = seq + 1; at <= log.lastTombstone; at++) {
    const entry = log.at(at)
    if (entry?.type === "tombstone") tombstones.push(entry)
  }
  const edit = edits.find(({ entry }) => isHere(entry.id))
  if (edit !== undefined) return caused(edit.edit, "edit")
  const deletion = tombstones.find(({ targetId }) => isHere(targetId))
  if (deletion !== undefined) return caused(deletion, "tombstone")
  // Without their results, calls may have been left out, too.
  const ids = new Set(tail.map(({ entry }) => entry.id))
  const late = here.find(({ entryId, message }) => message.role === "toolResult" && ids.has(entryId))
  if (late !== undefined) return { entryId: late.entryId, reason: "result" }
  for (let at = seq + 1; at < log.end; at++) {
    const entry = log.at(at)
    if (entry?.type === "tool_start" && isHere(entry["targetId"])) return caused(entry, "start")
  }
  // A deleted edit, or one of several equal messages.
  return tombstones[0] === undefined ? caused(edits[0]?.edit, "edit") : caused(tombstones[0], "tombstone")
}

function caused(entry: Entry | undefined, reason: BreakReason): Reused["brokenBy"] {
  return entry === undefined ? undefined : { entryId: entry.id, reason }
}
