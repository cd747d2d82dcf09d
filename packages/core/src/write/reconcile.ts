/**
 * What becomes of pending appends when the log has lines that this writer did not know: its own, which had arrived after all, and
 * another writer's. Pure decisions; the queue carries them out. `docs/contract.md`, "Two writers", says why.
 */
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog, EntrySlot } from "../log/entry-log.ts"
import { parentOf } from "../log/path.ts"
import { isSide, isTalk, withParent } from "./pending.ts"
import type { PendingAppend, PendingEntry } from "./pending.ts"

export interface SortedLines {
  /** Pending entries that stand in the log. */
  readonly own: ReadonlyMap<string, PendingEntry>
  /** Their places. */
  readonly ownSeqs: readonly Seq[]
  readonly foreign: readonly Entry[]
  /** The last of {@link foreign}. */
  readonly last: { readonly id: string; readonly seq: Seq } | undefined
}

/** Tells own lines from another writer's. Ids are unique, so an entry with a pending id is that entry. */
export function sortLines(slots: readonly EntrySlot[], from: Seq, items: readonly PendingAppend[]): SortedLines {
  const pending = new Map(items.flatMap((item) => item.entries.map((entry) => [entry.id, entry] as const)))
  const own = new Map<string, PendingEntry>()
  const ownSeqs: Seq[] = []
  const foreign: Entry[] = []
  let last: SortedLines["last"]
  for (const [index, slot] of slots.entries()) {
    if (slot === undefined) continue
    const entry = pending.get(slot.id)
    if (entry === undefined) {
      foreign.push(slot)
      last = { id: slot.id, seq: from + index }
    } else if (!own.has(slot.id)) {
      own.set(slot.id, entry)
      ownSeqs.push(from + index)
    }
  }
  return { own, ownSeqs, foreign, last }
}

export interface Decision {
  /** From here on, appends must not be written: their callers asked to be told. */
  readonly refuseFrom: number
  /** The other writer's leaf becomes this session's. */
  readonly follow: boolean
  /** Conversation of both writers stands in the log, on two branches. */
  readonly diverged: boolean
}

/**
 * Decides for what is still pending, given another writer's entries. `continues`: these go on from this session's leaf; `midTurn`:
 * a turn is running that has been written in part, and must not find another's messages between its own.
 */
export function decide(
  items: readonly PendingAppend[],
  foreign: readonly Entry[],
  o: { readonly continues: boolean; readonly midTurn: boolean },
): Decision {
  const talked = foreign.some(isTalk)
  const refused = talked ? items.findIndex((item) => item.policy !== "branch" && !item.committed && !isSide(item)) : -1
  const refuseFrom = refused < 0 ? items.length : refused
  const onlySides = items.slice(0, refuseFrom).every(isSide)
  const follow = onlySides && !o.midTurn && (o.continues || refused >= 0)
  return { refuseFrom, follow, diverged: talked && !(follow && o.continues) }
}

/**
 * Hangs the side entries that come first on the log's end, each on the one before it, and the conversation behind them on the leaf:
 * even where no more than the first of them gets written, naming has not moved the branch.
 */
export function rebase(
  items: readonly PendingAppend[],
  o: { readonly end: string; readonly leafId: string | null; readonly aside: boolean },
): void {
  let last: string | undefined
  let leading = true
  for (const item of items) {
    item.entries = item.entries.map((entry) => {
      const talk = isTalk(entry)
      const first = leading && talk
      if (talk) leading = false
      // A branch names its own parent.
      if (first && last !== undefined && entry.parentId === last) return withParent(entry, o.leafId, false)
      if (!leading) return entry
      const moved = withParent(entry, last ?? o.end, o.aside)
      last = entry.id
      return moved
    })
  }
}

/**
 * Whether the path from an entry passes the leaf, or what the leaf's side entries hang on: whoever was there before they were
 * written has still gone on from this leaf's conversation.
 */
export function continuesFrom(log: EntryLog, leafId: string | null, seq: Seq): boolean {
  let leaf = leafId === null ? -1 : (log.find(leafId) ?? -1)
  while (leaf >= 0 && !isTalk(log.at(leaf) as Entry)) leaf = parentOf(log, leaf)
  let at = seq
  while (at > leaf && at >= 0) at = parentOf(log, at)
  return leaf < 0 || at === leaf
}
