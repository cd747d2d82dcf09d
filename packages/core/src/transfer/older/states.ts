/** Computes the context states that the compactions and resets of a log store. */
import { foldState, initialState } from "../../context/state.ts"
import type { ContextState, Entry } from "../../format/entry.ts"
import { storesState } from "../../format/entry-types.ts"
import type { Header } from "../../format/header.ts"
import type { Seq } from "../../storage/contract.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { ROOT } from "../../log/path.ts"

/**
 * The state of the path of each compaction and each `reset_boundary`, by its seq. The paths begin with the same entries, so the map
 * also has the states of the entries where they diverge: each entry is applied once.
 */
export function statesToStore(log: EntryLog, parents: ArrayLike<Seq>, header: Header): ReadonlyMap<Seq, ContextState> {
  const wanted: Seq[] = []
  for (let seq = 0; seq < log.end; seq++) if (storesState(log.at(seq)?.type ?? "")) wanted.push(seq)
  const states = new Map<Seq, ContextState>()
  for (const stop of stopsOf(wanted, parents)) {
    const stretch: Entry[] = []
    let seq = stop
    for (; seq !== ROOT && !states.has(seq); seq = parents[seq] ?? ROOT) stretch.push(log.at(seq) as Entry)
    states.set(stop, foldState(stretch.reverse(), states.get(seq) ?? initialState(header)))
  }
  return states
}

/** The wanted entries and the entries where their paths diverge, in log order: a stop comes after all stops on its path. */
function stopsOf(wanted: readonly Seq[], parents: ArrayLike<Seq>): readonly Seq[] {
  const stops = new Set(wanted)
  const onPath = new Set<Seq>()
  for (const entry of wanted) {
    let seq = entry
    while (seq !== ROOT && !onPath.has(seq)) {
      onPath.add(seq)
      seq = parents[seq] ?? ROOT
    }
    if (seq !== ROOT) stops.add(seq)
  }
  return [...stops].sort((a, b) => a - b)
}
