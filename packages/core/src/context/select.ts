/**
 * Selects the entries and the state that make the context of a leaf. Gives the same answer for a whole log and for its end in memory:
 * if the answer depends on older lines, it returns `NeedsOlder` with a hint of how far back they are.
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContextState, Entry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { OLDER, parentDiagnostic, parentOf } from "../log/path.ts"
import type { NeedsOlder } from "../log/path.ts"
import { replacementOf } from "./content.ts"
import { stateBlobs, storedStateBlobs } from "./state-blobs.ts"
import type { BlobPointers } from "./state-blobs.ts"
import { foldState, initialState, storedState } from "./state.ts"

export interface SelectedEntry {
  readonly seq: Seq
  readonly entry: Entry
  /** The latest valid edit of this entry on the path. */
  readonly edit?: Entry
}

export interface Selection {
  /** In context order: the compaction first, then its kept entries, then the entries after it, without deleted ones. */
  readonly entries: readonly SelectedEntry[]
  readonly state: ContextState
  /** JSON pointers of the blob references in the state. */
  readonly stateBlobs?: BlobPointers
  readonly compaction?: Seq
  /** The entry whose stored state the fold began with. */
  readonly stateFrom?: Seq
  readonly diagnostics: readonly Diagnostic[]
}

/** `leaf` null is the position before the first entry. The header may set the initial state. */
export function selectContext(
  log: EntryLog,
  leaf: Seq | null,
  header?: Readonly<Record<string, unknown>>,
): Selection | NeedsOlder {
  if (leaf === null) return { entries: [], state: initialState(header), diagnostics: [] }
  const { deleted } = log
  const edits = new Map<Seq, Entry>()
  const diagnostics: Diagnostic[] = []
  /** The walked path, newest first. */
  const walked: Seq[] = []
  /** Members of the context after and before the compaction, newest first. */
  const after: Seq[] = []
  const before: Seq[] = []
  let compaction: Seq | undefined
  let firstKept: Seq | undefined
  let open = true
  let stateFrom: Seq | undefined

  let seq: Seq = leaf
  for (; seq >= 0; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    const bridged = parentDiagnostic(log, seq)
    if (bridged !== undefined) diagnostics.push(bridged)
    if (open && firstKept !== undefined && seq < firstKept) {
      // The walk has passed the seq of the first kept entry, which is therefore on another branch.
      diagnostics.push(missingFirstKept(log, compaction as Seq))
      before.length = 0
      open = false
    }
    if (stateFrom === undefined && storedState(entry) !== undefined) stateFrom = seq
    walked.push(seq)
    if (open && !deleted.has(seq)) {
      if (entry.type === "reset_boundary" && compaction === undefined) open = false
      else if (entry.type === "context_edit") addEdit(log, seq, edits, diagnostics)
      else if (!isCompaction(entry)) (compaction === undefined ? after : before).push(seq)
      else if (compaction === undefined) {
        compaction = seq
        const first = firstKeptOf(log, seq)
        if (first === OLDER) return { older: true, ...firstKeptHint(log, entry) }
        if (first === undefined) open = false
        else firstKept = first
        if (first === undefined && entry["firstKeptEntryId"] !== entry.id) diagnostics.push(missingFirstKept(log, seq))
      }
    }
    if (open && seq === firstKept) open = false
    if (!open && stateFrom !== undefined) break
  }
  if (seq === OLDER) return { older: true, ...leafHint(log.at(walked.at(-1) as Seq)) }
  if (open && firstKept !== undefined) {
    diagnostics.push(missingFirstKept(log, compaction as Seq))
    before.length = 0
  }

  const order = compaction === undefined ? [] : [compaction]
  for (let i = before.length - 1; i >= 0; i--) order.push(before[i] as Seq)
  for (let i = after.length - 1; i >= 0; i--) order.push(after[i] as Seq)
  return {
    entries: order.map((seq) => selected(log, seq, edits.get(seq))),
    ...stateOf(log, walked, stateFrom, header),
    ...(compaction === undefined ? {} : { compaction }),
    ...(stateFrom === undefined ? {} : { stateFrom }),
    diagnostics: diagnostics.reverse(),
  }
}

function selected(log: EntryLog, seq: Seq, edit: Entry | undefined): SelectedEntry {
  const entry = log.at(seq) as Entry
  return edit === undefined ? { seq, entry } : { seq, entry, edit }
}

/** A compaction without a summary is ignored, so no history is lost. */
function isCompaction(entry: Entry): boolean {
  return entry.type === "compaction" && typeof entry["summary"] === "string"
}

/** Seq of the first kept entry; undefined if nothing is kept; {@link OLDER} if that depends on older lines. */
function firstKeptOf(log: EntryLog, compaction: Seq): Seq | undefined {
  const entry = log.at(compaction) as Entry
  const id = entry["firstKeptEntryId"]
  if (typeof id !== "string" || id === entry.id) return undefined
  return log.find(id, compaction) ?? (log.complete ? undefined : OLDER)
}

/** The `firstKeptSeq` of the compaction. It is wrong, and ignored, if that line is held. */
function firstKeptHint(log: EntryLog, compaction: Entry): { hint?: Seq } {
  const { hint } = hintOf(compaction, "firstKeptSeq")
  return hint !== undefined && hint < log.from ? { hint } : {}
}

/** The walk goes backwards, so the first edit of a target that it meets is the latest. */
function addEdit(log: EntryLog, seq: Seq, edits: Map<Seq, Entry>, diagnostics: Diagnostic[]): void {
  const edit = log.at(seq) as Entry
  if (replacementOf(edit) === undefined) {
    const message = `Edit ${edit.id} (line ${seq}) has no valid replacement and is ignored.`
    diagnostics.push({ code: "invalid_record", seq, entryId: edit.id, message })
    return
  }
  const targetId = edit["targetId"]
  const target = typeof targetId === "string" ? log.find(targetId, seq) : undefined
  if (target !== undefined && !edits.has(target)) edits.set(target, edit)
}

/** The header's system prompt wins over a stored one: the header is always held, so compactions need no copy of it. */
function stateOf(
  log: EntryLog,
  walked: readonly Seq[],
  stateFrom: Seq | undefined,
  header: Readonly<Record<string, unknown>> | undefined,
): Pick<Selection, "state" | "stateBlobs"> {
  const initial = initialState(header)
  const carrier = stateFrom === undefined ? undefined : log.at(stateFrom)
  const stored = carrier === undefined ? undefined : storedState(carrier)
  const { systemPromptOverride = stored?.systemPromptOverride } = initial
  const from = stored ?? initial
  const start = systemPromptOverride === undefined ? from : { ...from, systemPromptOverride }
  const path = walked
    .slice(0, stateFrom === undefined ? walked.length : walked.indexOf(stateFrom))
    .reverse()
    .map((seq) => log.at(seq) as Entry)
  const blobs = stateBlobs(path, carrier === undefined ? undefined : storedStateBlobs(carrier))
  return { state: foldState(path, start), ...(blobs === undefined ? {} : { stateBlobs: blobs }) }
}

/** Only a `leaf` has the seq of its parent in `targetSeq`; in other entries it is the seq of another entry. */
function leafHint(entry: Entry | undefined): { hint?: Seq } {
  return entry?.type === "leaf" ? hintOf(entry, "targetSeq") : {}
}

function hintOf(entry: Entry | undefined, field: string): { hint?: Seq } {
  const hint = entry?.[field]
  return typeof hint === "number" && Number.isSafeInteger(hint) && hint >= 0 ? { hint } : {}
}

function missingFirstKept(log: EntryLog, compaction: Seq): Diagnostic {
  const entry = log.at(compaction) as Entry
  return {
    code: "missing_first_kept",
    seq: compaction,
    entryId: entry.id,
    message: `Compaction ${entry.id} (line ${compaction}) keeps entries from ${String(entry["firstKeptEntryId"])} on, which is not on its path; no entry before the compaction is kept.`,
  }
}
