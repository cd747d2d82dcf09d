/** Reads the end of a stored log after an append that did not succeed, and compares it with the session in memory. */
import { encodeHeader, parseLine } from "../format/line.ts"
import type { Head, Seq, SessionStorage } from "../storage/contract.ts"
import type { Entry } from "../format/entry.ts"
import type { EntryLog, EntrySlot } from "../log/entry-log.ts"
import { readLines } from "../log/loaded-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { FoundLines, SessionState } from "./session-state.ts"
import { headAt, lineMark } from "../storage/head.ts"
import { retryOn, TRIES } from "../storage/retry.ts"
import { type LogEnd, readEnd } from "./writer.ts"

export interface ResolveContext {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  /** Loads the log that replaced this session's, if it is its own, rewritten, or `cut`: has lost lines. Returns whether it was. */
  reload(cut?: boolean): Promise<boolean>
}

/** Entries that were not known before. */
export type RemoteLines =
  | ({ readonly kind: "lines" } & FoundLines)
  /** The log was rewritten or, with `lost`, has lost lines, and is loaded; these of its entries are new. */
  | {
      readonly kind: "reloaded"
      readonly from: Seq
      readonly slots: readonly EntrySlot[]
      /** The entries that this session had appended and that are gone. */
      readonly lost?: readonly Entry[]
    }

export type Resolved =
  | RemoteLines
  /** The session was deleted, or deleted and created again. */
  | { readonly kind: "gone" }
  /** Another session has the id of the one that was to be created. */
  | { readonly kind: "taken" }

/**
 * If the log is replaced or deleted while more of it is read, its end is read again. Rejects with `conflict` if that happens each time,
 * and with what the storage rejects with.
 */
export async function resolveEnd(context: ResolveContext, end: LogEnd | undefined): Promise<Resolved> {
  const { id, storage, state } = context
  let found = end
  // Not before there is a head: without one nothing is read.
  const again = async (): Promise<void> => void (found = await readEnd(storage, id, state.head as Head))
  return retryOn("conflict", TRIES, () => compare(context, found), again)
}

async function compare(context: ResolveContext, end: LogEnd | undefined): Promise<Resolved> {
  const { state } = context
  if (end === undefined) return { kind: "gone" }
  if (state.head === undefined) {
    const [header, ...lines] = end.lines
    return header === encodeHeader(state.header) ? toLines(state, lines, 1, end) : { kind: "taken" }
  }
  if (end.head.log !== state.head.log) return resolveReplaced(context)
  const [last, ...lines] = end.lines
  if (!isHeldEnd(state, last)) return resolveCut(context, end)
  return toLines(state, lines, state.acknowledged, end)
}

/** Whether a stored line can be the one that is held at a seq. A line that is no entry is not held: any line can be it. */
function isHeldLine(log: EntryLog, seq: Seq, line: string): boolean {
  const held = log.at(seq)
  return held === undefined || parseLine(line).record?.["id"] === held.id
}

/** Whether a line can be the last acknowledged one. Without a mark its id says it. */
export function isHeldEnd({ log, acknowledged, head }: SessionState, line: string | undefined): boolean {
  if (line === undefined) return false
  return head?.mark === undefined ? isHeldLine(log, acknowledged - 1, line) : head.mark === lineMark(line)
}

/** The last acknowledged line is no longer there. Lines that may be of a write that then failed are dropped without a word. */
async function resolveCut(context: ResolveContext, end: LogEnd): Promise<Resolved> {
  const { id, storage, state } = context
  const { from } = state.log
  const lines = await readLines(storage, id, { from, to: end.head.next, log: end.head.log })
  // The last one is another, even if it has the same id.
  const known = Math.min(lines.length, state.acknowledged - 1 - from)
  let same = 0
  while (same < known && isHeldLine(state.log, from + same, lines[same] as string)) same++
  const cut = from + same
  if (cut >= state.sure) return toLines(state, lines.slice(same), cut, end)
  const own = state.disown(cut)
  if (!(await context.reload(true))) return { kind: "gone" }
  const { log, acknowledged } = state
  const lost = own.filter((entry) => log.find(entry.id) === undefined)
  return { kind: "reloaded", from: cut, slots: slotsOf(log, Math.max(cut, log.from), acknowledged), lost }
}

function slotsOf(log: EntryLog, from: Seq, to: Seq): EntrySlot[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => log.at(from + index))
}

async function resolveReplaced(context: ResolveContext): Promise<Resolved> {
  const { state } = context
  const { log, acknowledged } = state
  // A log without entries cannot be told from one that was created again.
  if (state.lastAcknowledgedId === null || !(await context.reload())) return { kind: "gone" }
  for (const { id } of state.disown(0, log)) {
    const seq = state.log.find(id)
    if (seq !== undefined) state.appended(seq, seq + 1)
  }
  let from = state.acknowledged
  for (; from > state.log.from; from--) {
    const id = state.log.at(from - 1)?.id
    const before = id === undefined ? undefined : log.find(id)
    if (before !== undefined && before < acknowledged) break
  }
  return { kind: "reloaded", from, slots: slotsOf(state.log, from, state.acknowledged) }
}

/** The stored lines from `from` on, which other writers may have appended. */
export function toLines(
  state: SessionState,
  lines: readonly string[],
  from: Seq,
  { head: { log, bytes } }: Pick<LogEnd, "head">,
): RemoteLines & { readonly kind: "lines" } {
  const damaged = (): boolean => (state.hasDamage = true)
  const slots = lines.map((line, index) => {
    const slot = parseEntry(line, from + index, damaged)
    if (slot !== undefined && (state.log.find(slot.id) ?? from) < Math.min(from, state.acknowledged)) damaged()
    return slot
  })
  const last = lines.at(-1)
  const head = last === undefined && from === state.acknowledged ? state.head : headAt(from + lines.length, log, last)
  return { kind: "lines", from, slots, head: head as Head, bytes }
}
