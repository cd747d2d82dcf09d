/**
 * How much of a context was in the request of its last answer. Providers read the unchanged beginning of a request from their cache, for
 * a tenth of the price.
 */
import type { Entry } from "../format/entry.ts"
import { isAnnotationType } from "../format/entry-types.ts"
import { isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { parentOf } from "../log/path.ts"
import type { Seq } from "../storage/contract.ts"
import type { Selection } from "./select.ts"
import type { BreakReason, ContextMessage, Reused, SelectedEntry } from "./types.ts"

type BrokenBy = NonNullable<Reused["brokenBy"]>

/** Facts about the request of the last answer before the messages are made. */
export interface LastRequest {
  /** The last answer behind the compaction, with what follows it; undefined: there is none. */
  readonly answer?: { readonly seq: Seq; readonly tail: readonly SelectedEntry[] }
  /** The first entry since then, other than an edit or a deletion, for which a provider may not use its cache. */
  readonly brokenBy: BrokenBy | undefined
}

/** The messages that a context has in common with that request. */
export interface CommonPart {
  /** Their number, from the first one on; -1: there was no request. */
  readonly same: number
  readonly brokenBy?: BrokenBy | undefined
}

const REASONS: { readonly [type: string]: BreakReason | undefined } = {
  leaf: "branch",
  branch_summary: "branch",
  model_change: "model",
  thinking_level_change: "setting",
  mode_change: "setting",
}

/** Reads the selected entries backwards to the last answer. */
export function lastRequest(log: EntryLog, { entries, start = -1 }: Selection): LastRequest {
  let brokenBy: BrokenBy | undefined
  for (let index = entries.length - 1; index >= 0; index--) {
    const { seq, entry } = entries[index] as SelectedEntry
    if (seq <= start) break
    if (roleOf(entry) === "assistant") return { answer: { seq, tail: entries.slice(index) }, brokenBy }
    const reason = REASONS[entry.type]
    // A type may have the name of a property that every object has.
    if (typeof reason === "string" && (reason !== "branch" || moves(log, seq))) brokenBy = { entryId: entry.id, reason }
  }
  const first = log.at(start)
  if (first !== undefined) brokenBy = { entryId: first.id, reason: first.type === "compaction" ? first.type : "reset" }
  return { brokenBy }
}

/**
 * The index of the first message that the request of the answer did not have; -1 if there was none. Undefined: an edit, a deletion or a
 * late result may have changed an earlier one, so the messages of both must be compared. `stored`: each message of the log is one of
 * the context.
 */
export function placeOfAnswer(
  log: EntryLog,
  { answer }: LastRequest,
  { entries, start }: Selection,
  { messages, stored }: { readonly messages: readonly ContextMessage[]; readonly stored?: unknown },
): number | undefined {
  if (answer === undefined) return start === undefined ? -1 : 0
  const { seq, tail } = answer
  if (log.lastTombstone > seq) return undefined
  if (stored !== undefined) return messages.length - tail.filter(({ entry }) => entry.type === "message").length
  if (entries.some(({ edit }) => edit !== undefined && edit.seq > seq)) return undefined
  const { id } = (tail[0] as SelectedEntry).entry
  // The start of an earlier call changes what the context says in place of its result.
  for (let at = seq + 1; at < log.end; at++) {
    const entry = log.at(at)
    if (entry?.type === "tool_start" && entry["targetId"] !== id) return undefined
  }
  const place = messages.findLastIndex(({ entryId, message }) => entryId === id && message.role === "assistant")
  // A damaged log may have another entry with this id.
  if (place < 0 || log.find(id, seq) !== undefined) return undefined
  const after = new Set(messages.slice(place).map(({ entryId }) => entryId))
  // A result that is not behind the answer belongs to a call before it, and replaces an invented one there.
  return tail.every(({ entry }) => roleOf(entry) !== "toolResult" || after.has(entry.id)) ? place : undefined
}

function roleOf({ type, message }: Entry): unknown {
  return type === "message" && isObject(message) ? message["role"] : undefined
}

/** Whether a `leaf` makes the path leave the end of the conversation. One that only settles branches does not. */
function moves(log: EntryLog, leaf: Seq): boolean {
  let last = log.entryBefore(leaf)
  while (last !== undefined && isAnnotationType((log.at(last) as Entry).type)) last = log.entryBefore(last)
  return (last ?? -1) !== parentOf(log, leaf)
}
