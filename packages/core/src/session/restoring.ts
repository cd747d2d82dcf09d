/** Selected entries and states with what had left their lines. */
import type { SelectedEntry, Selection } from "../context/select.ts"
import { inState } from "../context/state-blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContextState, Entry } from "../format/records.ts"
import type { CallOptions } from "../storage/contract.ts"
import { restoreEntries } from "../log/blobs.ts"
import type { ReadableSession } from "./live.ts"

export async function restoreSelected(
  shared: ReadableSession,
  selected: readonly SelectedEntry[],
  o: CallOptions,
): Promise<{ entries: readonly SelectedEntry[]; diagnostics: readonly Diagnostic[] }> {
  const foreign = shared.writeGuard.kind !== "open"
  const hasNone = ({ entry, edit }: SelectedEntry): boolean => entry.blobs === undefined && edit?.blobs === undefined
  if (!foreign && selected.every(hasNone)) return { entries: selected, diagnostics: [] }
  const flat = selected.flatMap(({ entry, edit }) => (edit === undefined ? [entry] : [entry, edit]))
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  const { entries, diagnostics } = await restoreEntries(shared.storage, flat, { ...signal, foreign })
  let at = 0
  const restored = selected.map(({ seq, edit }) => {
    const entry = entries[at++] as Entry
    return edit === undefined ? { seq, entry } : { seq, entry, edit: entries[at++] as Entry }
  })
  return { entries: restored, diagnostics }
}

/** The state with what had left its entries' lines. */
export async function restoreState(
  shared: ReadableSession,
  selection: Selection,
  o: CallOptions,
): Promise<ContextState> {
  const { state, stateBlobs } = selection
  if (stateBlobs === undefined) return state
  const carrier = { type: "state", id: "", parentId: null, seq: 0, timestamp: "", state, blobs: inState(stateBlobs) }
  const { entries } = await restoreEntries(
    shared.storage,
    [carrier],
    o.signal === undefined ? {} : { signal: o.signal },
  )
  return (entries[0] as typeof carrier).state
}
