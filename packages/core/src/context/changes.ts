/** Changes of messages that the sizes of a context depend on. They are found by `changesOf`, in a file of its own: few contexts have any. */
import type { Message } from "../format/message.ts"
import type { TokenCounter } from "../format/tokens.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { Seq } from "../storage/contract.ts"
import type { ContextMessage, PrunedResult, SelectedEntry, ShortenedMessage } from "./types.ts"

/** The change that a recorded step makes to a message. */
export interface StepChange {
  readonly entryId: string
  readonly before: Message
  /** Undefined: it was left out. */
  readonly after: Message | undefined
  readonly how: ShortenedMessage["how"]
  /** The step. */
  readonly since: string
  readonly at: Seq
  /** From here on the message is whole again. */
  readonly until?: Seq | undefined
}

/** The messages of a context as they are sent, and as they were before any was shortened. */
export interface MeasuredView {
  readonly messages: readonly ContextMessage[]
  readonly whole?: readonly ContextMessage[]
  readonly pruned?: readonly Pick<PrunedResult, "entryId" | "since">[]
  readonly steps?: readonly StepChange[]
}

/** With the entry at the seq `at`, the message at the seq `place` became shorter by `units`. */
export interface Change {
  readonly at: Seq
  readonly place: Seq
  readonly units: number
}

/** Finds the changes of the path that a context was selected from; `start` is its compaction or reset, or -1. */
export type ChangesOf = (
  log: EntryLog,
  entries: readonly SelectedEntry[],
  start: Seq,
  view: MeasuredView,
  count: TokenCounter,
) => readonly Change[]

/** The units that the messages before an answer had more in its request. */
export function unitsSince(changes: readonly Change[], answer: Seq): number {
  let units = 0
  for (const change of changes) if (change.place < answer && change.at > answer) units += change.units
  return units
}

/** Whether the request of the later answer does not begin with that of the earlier one. */
export function isBroken(changes: readonly Change[], earlier: Seq, later: Seq): boolean {
  // A loop without a closure: it is asked for every report of a context, and there are almost never any changes.
  for (const { at, place } of changes) if (place < earlier && at > earlier && at < later) return true
  return false
}
