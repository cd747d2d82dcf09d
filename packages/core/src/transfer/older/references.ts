import type { Diagnostic } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/records.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import { ROOT } from "../../log/path.ts"
import type { Links } from "./links.ts"
import { shown } from "../../format/identify.ts"

/** What oh-my-pi writes where a compaction keeps nothing: an id that no entry has. */
const KEEP_NOTHING = "compaction:keep-nothing"

/**
 * An entry with the references that version 4 wants: a compaction's first kept entry on its own path, with its place, and the
 * leaf that a branch summary abandoned.
 */
export function withReferences(
  entry: Entry,
  links: Links,
  slots: readonly EntrySlot[],
): { readonly entry: Entry; readonly diagnostic?: Diagnostic } {
  if (entry.type === "compaction") return withFirstKept(entry, links)
  if (entry.type === "branch_summary") return { entry: withAbandonedLeaf(entry, links, slots) }
  return { entry }
}

function withFirstKept(entry: Entry, links: Links): { readonly entry: Entry; readonly diagnostic?: Diagnostic } {
  const { seq, id } = entry
  const firstKeptEntryId = entry["firstKeptEntryId"]
  const firstKeptSeq = links.kept.get(seq)
  if (firstKeptSeq !== undefined && links.isAncestor(firstKeptSeq, seq)) return { entry: { ...entry, firstKeptSeq } }
  const nothing = { ...entry, firstKeptEntryId: id, firstKeptSeq: seq }
  if (firstKeptEntryId === id || firstKeptEntryId === KEEP_NOTHING) return { entry: nothing }
  const message = `Compaction ${id} (line ${seq}) keeps from ${shown(firstKeptEntryId)} on, which is not on its path; nothing before it is kept.`
  return { entry: nothing, diagnostic: { code: "missing_first_kept", seq, entryId: id, message } }
}

/** oh-my-pi, and pi before 0.87, wrote the target there, which is the entry's parent already. */
function withAbandonedLeaf(entry: Entry, links: Links, slots: readonly EntrySlot[]): Entry {
  const target = entry.parentId ?? "root"
  if (entry["fromId"] !== target) return entry
  const abandoned = links.lastOutside[entry.seq] ?? ROOT
  return { ...entry, fromId: slots[abandoned]?.id ?? "root" }
}
