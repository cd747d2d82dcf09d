/**
 * What becomes of pending appends when the log has lines that this writer did not know: its own, which had arrived after all, and
 * another writer's. Pure decisions; the queue carries them out. `docs/contract.md`, "Two writers", says why.
 */
import { SIDE_ENTRY_TYPES } from "../format/records.ts"
import type { Entry } from "../format/records.ts"
import type { Slot } from "../tree/entry-log.ts"
import { isSide, reparent } from "./pending.ts"
import type { PendingAppend } from "./pending.ts"

export interface Arrived {
  /** Ids of pending entries that stand in the log. */
  readonly own: ReadonlySet<string>
  readonly foreign: readonly Entry[]
}

/** Tells own lines from another writer's. Ids are unique, so an entry with a pending id is that entry. */
export function sortArrived(slots: readonly Slot[], items: readonly PendingAppend[]): Arrived {
  const pending = new Set(items.flatMap((item) => item.entries.map((entry) => entry.id)))
  const own = new Set<string>()
  const foreign: Entry[] = []
  for (const slot of slots) {
    if (slot === undefined) continue
    if (pending.has(slot.id)) own.add(slot.id)
    else foreign.push(slot)
  }
  return { own, foreign }
}

export interface Decision {
  /** From here on, items must not be written: their callers asked to be told. */
  readonly refuseFrom: number
  /** The leaf that side entries, or nothing at all, leave the session with: another writer's. */
  readonly adoptLeaf: boolean
  /** Conversation of both writers goes on, on two branches. */
  readonly diverged: boolean
}

/** Decides for what is still pending, given another writer's entries. */
export function decide(items: readonly PendingAppend[], foreign: readonly Entry[]): Decision {
  const talked = foreign.some((entry) => !SIDE_ENTRY_TYPES.has(entry.type))
  const refused = talked ? items.findIndex((item) => item.policy !== "branch" && !isSide(item)) : -1
  const refuseFrom = refused < 0 ? items.length : refused
  const kept = items.slice(0, refuseFrom)
  const onlySides = kept.every(isSide)
  return {
    refuseFrom,
    adoptLeaf: foreign.length > 0 && onlySides && (kept.length > 0 || refused >= 0),
    diverged: talked && !onlySides,
  }
}

/** Hangs a run of side entries under a new leaf, each under the one before it. */
export function rehang(items: readonly PendingAppend[], leafId: string | null): void {
  let parentId = leafId
  for (const item of items) {
    item.entries = item.entries.map((entry) => {
      const moved = reparent(entry, parentId)
      parentId = entry.id
      return moved
    })
  }
}
