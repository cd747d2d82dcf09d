/** Takes into memory what was found at the end of a log, and settles what was pending against it. No I/O. */
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import { entriesOf, leafAfter, requeue } from "./pending.ts"
import type { PendingAppend } from "./pending.ts"
import { continuesFrom, decide, rebase, sortLines } from "./reconcile.ts"
import type { SortedLines } from "./reconcile.ts"
import type { SessionState } from "./session-state.ts"
import type { RemoteLines } from "./resolve-outcome.ts"
import type { Divergence } from "./types.ts"

export interface RemoteChange {
  /** All of it is in the log. */
  readonly committed: readonly PendingAppend[]
  /** Still to be written; they have their places in memory again. */
  readonly pending: readonly PendingAppend[]
  /** Must not be written. They have left memory. */
  readonly refused: readonly PendingAppend[]
  /** Places of own entries that are in the log. */
  readonly ownSeqs: readonly Seq[]
  readonly foreign: readonly Entry[]
  readonly divergence: Divergence | undefined
}

/**
 * From here on nothing is doubtful: where the log has lines that were not known, a late write no longer fits it. `midTurn`: a turn
 * is running that has been written in part.
 */
export function applyRemote(
  state: SessionState,
  items: readonly PendingAppend[],
  found: RemoteLines,
  midTurn: boolean,
): RemoteChange {
  const { own, ownSeqs, foreign, last } = sortLines(found.slots, found.from, items)
  const { committed, left } = takeOut(items, own)
  if (found.kind === "lines") state.applyRemote(found)
  const ownLeafId = leafAfter([...own.values()]) ?? state.acknowledgedLeafId
  state.acknowledgedLeafId = ownLeafId
  if (last === undefined) {
    state.replacePending(entriesOf(left))
    return { committed, pending: left, refused: [], ownSeqs, foreign, divergence: undefined }
  }
  const continues = continuesFrom(state.log, ownLeafId, last.seq)
  const { refuseFrom, follow, diverged } = decide(left, foreign, { continues, midTurn })
  const pending = left.slice(0, refuseFrom)
  rebase(pending, { end: last.id, leafId: ownLeafId, aside: !follow })
  if (follow) state.acknowledgedLeafId = last.id
  state.replacePending(entriesOf(pending))
  const divergence = diverged ? toDivergence(state.leafId, follow ? ownLeafId : last.id) : undefined
  for (const item of [...committed, ...pending]) item.diverged ??= divergence
  return { committed, pending, refused: left.slice(refuseFrom), ownSeqs, foreign, divergence }
}

function toDivergence(leaf: string | null, otherLeaf: string | null): Divergence | undefined {
  return leaf === null || otherLeaf === null ? undefined : { leaf, otherLeaf }
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
    // Lines arrive in order: of what comes after something that is missing, another writer has written the same entry.
    if (entries.length < item.entries.length && left.length === 0) item.committed = true
    item.entries = entries
    ;(entries.length === 0 ? committed : left).push(item)
  }
  return { committed, left }
}
