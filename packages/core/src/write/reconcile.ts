/**
 * Reconciles pending appends with lines that were found at the end of the log: own lines that arrived after all, and lines of another
 * writer ("foreign", as the event is named: it may be one of this process). No I/O; the queue carries out what is decided here.
 * `docs/contract.md`, "Two writers", gives the reasons.
 */
import type { Divergence } from "../log/diverged.ts"
import type { Entry } from "../format/entry.ts"
import type { EntryLog, EntrySlot } from "../log/entry-log.ts"
import { decodeEntry } from "./encode.ts"
import {
  entriesOf,
  isAnnotation,
  isConversation,
  leafAfter,
  type PendingAppend,
  type PendingEntry,
  requeue,
  withParent,
} from "./pending.ts"
import { isSameContent } from "./repeats.ts"
import type { RemoteLines } from "./resolve-outcome.ts"
import type { Seq } from "../storage/contract.ts"
import type { SessionState } from "./session-state.ts"
import { leafFrom, parentOf, ROOT } from "../log/path.ts"

export interface RemoteChange extends Sorted {
  /** The whole append is in the log. */
  readonly committed: readonly PendingAppend[]
  /** Seqs of own entries that are in the log. */
  readonly ownSeqs: readonly Seq[]
  readonly foreign: readonly Entry[]
  /** The open tips, if one of them was not reported yet. */
  readonly divergence: Divergence | undefined
}

interface Sorted {
  /** Still to be written; their entries are in memory again. */
  readonly pending: readonly PendingAppend[]
  /** Not to be written: their callers asked to be told of a conflict, or {@link taken}. Their entries have left memory. */
  readonly refused: readonly PendingAppend[]
  /** Another writer has used this id, of the first refused append, for an entry with other content. */
  readonly taken: string | undefined
}

/**
 * Takes the found lines over into memory and sorts the pending appends. Afterwards no outcome is unknown: a late write no longer fits
 * the log, which has grown. `midTurn`: a turn is running that has been written in part.
 */
export function applyRemote(
  state: SessionState,
  items: readonly PendingAppend[],
  found: RemoteLines,
  midTurn: boolean,
): RemoteChange {
  const { own, ownSeqs, foreign } = sortLines(found.slots, items)
  const { committed, left } = takeOut(items, own)
  if (found.kind === "lines") state.applyRemote(found)
  const ownLeafId = leafAfter([...own.values()], state.acknowledgedLeafId)
  state.acknowledgedLeafId = ownLeafId
  const last = foreign.at(-1)
  if (last === undefined) {
    state.replacePending(entriesOf(left))
    return { committed, pending: left, refused: [], taken: undefined, ownSeqs, foreign, divergence: undefined }
  }
  const continues = continuesFrom(state.log, ownLeafId, last.seq, found.from)
  const { follow, ...sorted } = decide(left, foreign, continues, midTurn)
  const { pending } = sorted
  const leafId = follow ? leafIdFrom(state.log, last.seq) : ownLeafId
  state.acknowledgedLeafId = leafId
  rebase(pending, { end: last.id, leafId, follow })
  state.replacePending(entriesOf(pending))
  const divergence = state.reportTips()
  for (const item of [...committed, ...pending]) item.diverged ??= divergence
  return { ...sorted, committed, ownSeqs, foreign, divergence }
}

/**
 * Makes the log's last entry the leaf if it continues the leaf and nothing is pending, which {@link decide} leaves undone while a turn is
 * running that has been written in part. Returns whether the leaf has moved.
 */
export function followEnd(state: SessionState): boolean {
  const { log, leafId, pendingCount } = state
  const last = log.entryBefore(log.end)
  if (pendingCount > 0 || leafId === null || last === undefined || log.find(leafId) === last) return false
  if (!continuesFrom(log, leafId, last, log.end)) return false
  state.leafId = leafIdFrom(log, last)
  state.acknowledgedLeafId = state.leafId
  return true
}

function leafIdFrom(log: EntryLog, last: Seq): string | null {
  return leafFrom(log, last) === null ? null : (log.at(last) as Entry).id
}

function takeOut(
  items: readonly PendingAppend[],
  own: SortedLines["own"],
): { readonly committed: readonly PendingAppend[]; readonly left: readonly PendingAppend[] } {
  const committed: PendingAppend[] = []
  const left: PendingAppend[] = []
  for (const item of items) {
    requeue(item)
    const entries = item.entries.filter((entry) => !own.has(entry.id))
    // Lines arrive in order: an entry that is there although an earlier one is missing was written by another writer.
    if (entries.length < item.entries.length && left.length === 0) item.committed = true
    item.entries = entries
    ;(entries.length === 0 ? committed : left).push(item)
  }
  return { committed, left }
}

interface SortedLines {
  /** Pending entries that are in the log. */
  readonly own: ReadonlyMap<string, PendingEntry>
  /** Their seqs. */
  readonly ownSeqs: readonly Seq[]
  readonly foreign: readonly Entry[]
}

/** Sorts own lines from another writer's. An entry with a pending id and the same content is that entry, whoever has written it. */
function sortLines(slots: readonly EntrySlot[], items: readonly PendingAppend[]): SortedLines {
  const pending = new Map(items.flatMap((item) => item.entries.map((entry) => [entry.id, entry] as const)))
  const own = new Map<string, PendingEntry>()
  const ownSeqs: Seq[] = []
  const foreign: Entry[] = []
  for (const slot of slots) {
    if (slot === undefined || own.has(slot.id)) continue
    const entry = pending.get(slot.id)
    if (entry !== undefined && isSameContent(slot, decodeEntry(entry.stored))) {
      own.set(slot.id, entry)
      ownSeqs.push(slot.seq)
    } else foreign.push(slot)
  }
  return { own, ownSeqs, foreign }
}

interface Decision extends Sorted {
  /** The other writer's leaf becomes this session's, and pending entries follow it. */
  readonly follow: boolean
}

/**
 * Decides what becomes of the pending appends, given another writer's entries. `continues`: those entries follow this session's leaf;
 * `midTurn`: a turn is running that has been written in part, and must not get another writer's messages between its own.
 */
function decide(
  items: readonly PendingAppend[],
  foreign: readonly Entry[],
  continues: boolean,
  midTurn: boolean,
): Decision {
  const ids = new Set(foreign.map(({ id }) => id))
  const takenOf = (item: PendingAppend): string | undefined => item.entries.find(({ id }) => ids.has(id))?.id
  const hasConversation = foreign.some(isConversation)
  const hasStart = foreign.some(({ type }) => type === "tool_start")
  // Nor does a message with "fail" pass beside another writer's start: it may say that the call was not made.
  const isConflict = (item: PendingAppend): boolean =>
    item.lease?.refuses(foreign) === true ||
    (asksForConflict(item) && (hasConversation || (hasStart && item.policy === "fail" && !isAnnotation(item))))
  const at = items.findIndex((item) => isConflict(item) || takenOf(item) !== undefined)
  const pending = at < 0 ? items : items.slice(0, at)
  const refused = items.slice(pending.length)
  const [failed] = refused
  // Its policy comes before an id that is taken: a turn starts over and may see the entry.
  const hasConflict = failed !== undefined && isConflict(failed)
  const taken = failed === undefined || hasConflict ? undefined : takenOf(failed)
  const first = pending.find((item) => !isAnnotation(item))
  const follow =
    first === undefined ? !midTurn && (continues || hasConflict) : hasConversation && first.policy === "rebase"
  return { pending, refused, taken, follow }
}

/** The start of a tool call is an annotation, but it must not pass beside another writer's message that forbids it. */
function asksForConflict({ entries, policy, committed }: PendingAppend): boolean {
  if (committed) return false
  const fails = policy === "fail" || policy === "retry-turn"
  return entries.some((entry) => entry.type === "tool_start" || (fails && isConversation(entry)))
}

/**
 * Gives the leading annotations the log's last entry as their parent, each the one before it, and the conversation behind them the leaf.
 * So an annotation never moves a branch, even if only the first of them is written. `follow`: the conversation follows the log's last entry
 * too, unless the other writer has set the leaf to null.
 */
function rebase(
  items: readonly PendingAppend[],
  o: { readonly end: string; readonly leafId: string | null; readonly follow: boolean },
): void {
  let last: string | undefined
  let leading = true
  const isReset = o.leafId === null
  for (const item of items) {
    item.entries = item.entries.map((entry) => {
      const conversation = isConversation(entry)
      const first = leading && conversation
      if (conversation) leading = false
      if (first && o.follow) return withParent(entry, isReset ? null : (last ?? o.end), false)
      // An entry that branches names its own parent.
      if (first && last !== undefined && entry.parentId === last) return withParent(entry, o.leafId, false)
      if (!leading) return entry
      const moved = withParent(entry, last ?? o.end, !o.follow || isReset)
      last = entry.id
      return moved
    })
  }
}

/**
 * Whether the path of an entry passes the leaf's newest conversation entry. Annotations behind that do not count: another writer may have
 * continued the conversation before they were written. `from`: the first of the lines that were found.
 */
function continuesFrom(log: EntryLog, leafId: string | null, seq: Seq, from: Seq): boolean {
  if (leafId === null) return startsAnew(log, seq, from)
  let leaf = log.find(leafId) ?? ROOT
  while (leaf >= 0 && !isConversation(log.at(leaf) as Entry)) leaf = parentOf(log, leaf)
  let at = seq
  while (at > leaf && at >= 0) at = parentOf(log, at)
  return leaf < 0 || at === leaf
}

/** Whether the path of an entry has no conversation before the lines that were found, which begin at `from`. */
function startsAnew(log: EntryLog, seq: Seq, from: Seq): boolean {
  let at = seq
  while (at >= 0) {
    const entry = log.at(at) as Entry
    if (at < from && entry.type !== "leaf" && isConversation(entry)) return false
    at = parentOf(log, at)
  }
  return at === ROOT
}
