/**
 * Selects the entries and the state that make the context of a leaf. Gives the same answer for a whole log and for its end in memory:
 * if the answer depends on older lines, it returns `NeedsOlder` with a hint of how far back they are.
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContextState, Entry } from "../format/entry.ts"
import type { Fields } from "../format/shape.ts"
import { shown } from "../storage/options.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { type NeedsOlder, OLDER, parentOf } from "../log/path.ts"
import { includedEntries } from "./included-messages.ts"
import { replacementOf } from "./content.ts"
import { type BlobPointers, stateBlobs, storedStateBlobs } from "./state-blobs.ts"
import { foldState, initialState, modelOf, storedState } from "./state.ts"
import type { SelectedEntry } from "./types.ts"

export interface Selection {
  /** In context order: the system messages that the compaction includes, the compaction, the question that it includes, then its kept entries, then the entries after it, without deleted ones. */
  readonly entries: readonly SelectedEntry[]
  readonly state: ContextState
  /** The blob references in the state, as JSON pointers into an entry that has it as its `state`. */
  readonly stateBlobs?: BlobPointers | undefined
  readonly compaction?: Seq | undefined
  /** The compaction or the reset that the context begins with. */
  readonly start?: Seq | undefined
  /** The last edit on the path since then. */
  readonly lastEdit?: Seq | undefined
  readonly diagnostics: readonly Diagnostic[]
}

/** `leaf` null is the position before the first entry. The header may set the initial state. */
export function selectContext(log: EntryLog, leaf: Seq | null, header?: Fields): Selection | NeedsOlder {
  if (leaf === null) return { entries: [], state: initialState(header), diagnostics: [] }
  const { deleted } = log
  /** The latest edit of each entry, by its seq, or by its id if it is not loaded. */
  const edits = new Map<Seq | string, Entry>()
  const diagnostics: Diagnostic[] = []
  /** Entries of the context, newest first: those after the compaction, then those that it keeps. */
  const members: SelectedEntry[] = []
  let compaction: Seq | undefined
  let start: Seq | undefined
  let lastEdit: Seq | undefined
  let firstKept: Seq | undefined
  let afterCompaction = 0
  let open = true
  /**
   * The stored state that the fold begins with, its blobs, and the entries after it that can change it, newest first: of the messages only
   * the newest that names a model. Reading each message here would take as long as the rest of the walk.
   */
  let stored: ContextState | undefined
  let storedBlobs: BlobPointers | undefined
  const changes: Entry[] = []
  let hasModel = false
  const keepNone = (): void => {
    diagnostics.push(missingFirstKept(log, compaction as Seq))
    members.length = afterCompaction
    open = false
  }

  let seq: Seq = leaf
  let parent: Seq
  let last: Entry | undefined
  for (; seq >= 0; seq = parent) {
    const entry = log.at(seq) as Entry
    parent = parentOf(log, seq, diagnostics)
    // The walk has passed the seq of the first kept entry, which is therefore on another branch.
    if (open && firstKept !== undefined && seq < firstKept) keepNone()
    last = entry
    if (stored === undefined) {
      stored = storedState(entry)
      if (stored !== undefined) storedBlobs = storedStateBlobs(entry)
      else if (entry.type !== "message") changes.push(entry)
      else if (!hasModel && modelOf(entry) !== undefined) {
        hasModel = true
        changes.push(entry)
      }
    }
    if (open && !deleted.has(seq)) {
      if (entry.type === "reset_boundary" && compaction === undefined) {
        start = seq
        open = false
      } else if (entry.type === "context_edit") {
        lastEdit ??= seq
        addEdit(log, seq, edits, diagnostics)
      } else if (!isCompaction(entry)) members.push({ seq, entry, edit: edits.get(seq) })
      else if (compaction === undefined) {
        compaction = start = seq
        afterCompaction = members.length
        const first = firstKeptOf(log, seq)
        if (first === OLDER) return needsOlder(log, entry["firstKeptSeq"])
        if (first !== undefined) firstKept = first
        else if (entry["firstKeptEntryId"] === entry.id) open = false
        else keepNone()
      }
    }
    if (open && seq === firstKept) open = false
    if (!open && stored !== undefined) break
  }
  // Only a `leaf` has the seq of its parent in `targetSeq`; in other entries it is the seq of another entry.
  if (seq === OLDER) return needsOlder(log, last?.type === "leaf" ? last["targetSeq"] : undefined)
  if (open && firstKept !== undefined) keepNone()

  const included = compaction === undefined ? undefined : includedEntries(log, compaction, edits)
  if (compaction !== undefined) {
    members.push(...(included?.question ?? []))
    members.push({ seq: compaction, entry: log.at(compaction) as Entry, edit: edits.get(compaction) })
  }
  const entries = members.reverse()
  changes.reverse()
  return {
    entries: included === undefined || included.system.length === 0 ? entries : [...included.system, ...entries],
    state: foldState(changes, startOf(stored, header)),
    stateBlobs: stateBlobs(changes, storedBlobs),
    compaction,
    start,
    lastEdit,
    diagnostics: diagnostics.reverse(),
  }
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

/** `hint` is the seq of the missing entry, as an entry names it. It is wrong, and ignored, if it is no seq, or that line is loaded. */
function needsOlder(log: EntryLog, hint: unknown): NeedsOlder {
  const isBefore = Number.isSafeInteger(hint) && (hint as Seq) >= 0 && (hint as Seq) < log.from
  return isBefore ? { older: true, hint: hint as Seq } : { older: true }
}

/** The walk goes backwards, so the first edit of a target that it meets is the latest. */
function addEdit(log: EntryLog, seq: Seq, edits: Map<Seq | string, Entry>, diagnostics: Diagnostic[]): void {
  const edit = log.at(seq) as Entry
  if (replacementOf(edit) === undefined) {
    const message = `Edit ${edit.id} (line ${seq}) has no valid replacement and is ignored.`
    diagnostics.push({ code: "invalid_record", seq, entryId: edit.id, message })
    return
  }
  const targetId = edit["targetId"]
  if (typeof targetId !== "string") return
  const target = log.find(targetId, seq) ?? targetId
  if (!edits.has(target)) edits.set(target, edit)
}

/**
 * The state that the fold begins with. The header's system prompt wins over a stored one: the header is always loaded, so compactions need
 * no copy of it.
 */
function startOf(stored: ContextState | undefined, header: Fields | undefined): ContextState {
  if (stored === undefined) return initialState(header)
  const systemPromptOverride = header?.["systemPromptOverride"]
  return typeof systemPromptOverride === "string" ? { ...stored, systemPromptOverride } : stored
}

function missingFirstKept(log: EntryLog, compaction: Seq): Diagnostic {
  const entry = log.at(compaction) as Entry
  return {
    code: "missing_first_kept",
    seq: compaction,
    entryId: entry.id,
    message: `Compaction ${entry.id} (line ${compaction}) keeps from ${shown(entry["firstKeptEntryId"])} on, which is not on its path; nothing before it is kept.`,
  }
}
