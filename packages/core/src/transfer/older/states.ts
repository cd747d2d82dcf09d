import { foldState, initialState } from "../../context/state.ts"
import type { ContextState, Entry, Header } from "../../format/records.ts"
import type { Seq } from "../../storage/contract.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import { ROOT } from "../../log/path.ts"

/**
 * The state that each compaction's path folds to, by the compaction's seq. The paths of many compactions share their beginnings:
 * states are kept where such paths part, so that every entry is folded once.
 */
export function compactionStates(
  slots: readonly EntrySlot[],
  parents: ArrayLike<Seq>,
  header: Header,
): ReadonlyMap<Seq, ContextState> {
  const compactions = slots.flatMap((slot) => (slot?.type === "compaction" ? [slot.seq] : []))
  const stops = stopsOf(compactions, parents)
  const states = new Map<Seq, ContextState>()
  for (const stop of stops) {
    const stretch: Entry[] = []
    let seq = stop
    for (; seq !== ROOT && !states.has(seq); seq = parents[seq] ?? ROOT) stretch.push(slots[seq] as Entry)
    states.set(stop, foldState(stretch.reverse(), states.get(seq) ?? initialState(header)))
  }
  return states
}

/** The compactions and the entries where their paths part, in log order: an entry's stops on its path come before it. */
function stopsOf(compactions: readonly Seq[], parents: ArrayLike<Seq>): readonly Seq[] {
  const stops = new Set(compactions)
  const onPath = new Set<Seq>()
  for (const compaction of compactions) {
    let seq = compaction
    while (seq !== ROOT && !onPath.has(seq)) {
      onPath.add(seq)
      seq = parents[seq] ?? ROOT
    }
    if (seq !== ROOT) stops.add(seq)
  }
  return [...stops].sort((a, b) => a - b)
}
