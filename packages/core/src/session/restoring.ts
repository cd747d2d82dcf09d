/** Replaces the blob references in selected entries, and in a context state, by the blobs' contents. */
import type { SelectedEntry, Selection } from "../context/select.ts"
import { inState } from "../context/state-blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContextState, Entry } from "../format/entry.ts"
import { signalOf } from "../storage/checks.ts"
import type { CallOptions } from "../storage/contract.ts"
import { restoreEntries } from "../log/blobs.ts"
import type { ReadableSession } from "./live.ts"

/** The entries and their edits with restored blobs. A missing blob leaves its reference and is reported in `diagnostics`. */
export async function restoreSelected(
  live: ReadableSession,
  selected: readonly SelectedEntry[],
  o: CallOptions,
): Promise<{ entries: readonly SelectedEntry[]; diagnostics: readonly Diagnostic[] }> {
  const foreign = live.writeGuard.kind !== "open"
  const hasNone = ({ entry, edit }: SelectedEntry): boolean => entry.blobs === undefined && edit?.blobs === undefined
  if (!foreign && selected.every(hasNone)) return { entries: selected, diagnostics: [] }
  const flat = selected.flatMap(({ entry, edit }) => (edit === undefined ? [entry] : [entry, edit]))
  const signal = signalOf(o)
  const { entries, diagnostics } = await restoreEntries(live.storage, flat, { ...signal, foreign })
  let at = 0
  const restored = selected.map(({ seq, edit }) => {
    const entry = entries[at++] as Entry
    return edit === undefined ? { seq, entry } : { seq, entry, edit: entries[at++] as Entry }
  })
  return { entries: restored, diagnostics }
}

/** The context state with restored blobs. */
export async function restoreState(live: ReadableSession, selection: Selection, o: CallOptions): Promise<ContextState> {
  const { state, stateBlobs } = selection
  if (stateBlobs === undefined) return state
  const carrier = { type: "state", id: "", parentId: null, seq: 0, timestamp: "", state, blobs: inState(stateBlobs) }
  const { entries } = await restoreEntries(live.storage, [carrier], signalOf(o))
  return (entries[0] as typeof carrier).state
}
