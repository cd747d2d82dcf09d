/** Checks the entries of a log, their references, and the states of its compactions and resets. Pure. */
import { storedStateBlobs } from "../../context/state-blobs.ts"
import { initialState, storedState } from "../../context/state.ts"
import { type RefOptions, blobRefs } from "../../format/blobs.ts"
import type { Report } from "../../format/diagnostics.ts"
import type { Header } from "../../format/header.ts"
import type { Entry, ContextState } from "../../format/entry.ts"
import { entryProblem } from "../../format/entry-problems.ts"
import { namesTarget, storesState } from "../../format/entry-types.ts"
import { isSameJson } from "../../format/json.ts"
import { type Fields, isObject } from "../../format/shape.ts"
import { divergenceAt, openAt, toDiagnostic } from "../../log/diverged.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { defaultLeaf } from "../../log/path.ts"
import { parentDiagnostic } from "../../log/walk.ts"
import { linkEntries, missingFirstKept } from "../older/links.ts"
import { statesToStore } from "../older/states.ts"
import { parseHash } from "../named-hash.ts"

/** Checks one complete entry; `log` holds at least the entries before it. */
export function checkEntry(log: EntryLog, entry: Entry, report: Report): void {
  const { id, seq } = entry
  const problem = entryProblem(entry)
  if (problem !== undefined) {
    const message = `Entry ${id} (line ${seq}) is not valid for its type: ${problem}`
    report({ code: "invalid_record", seq, entryId: id, message })
  }
  const earlier = log.find(id, seq)
  if (earlier === undefined) return
  const message = `Entry ${id} (line ${seq}) has the same id as line ${earlier}; a reference resolves to the nearest earlier entry with that id.`
  report({ code: "duplicate_id", seq, entryId: id, message })
}

/** The blobs that an entry refers to. `foreign`: see `RefOptions`. */
export function hashesOf(entry: Entry, o: RefOptions = {}): readonly string[] {
  const { type, files } = entry as Fields
  const snapshots = type === "file_snapshot" && isObject(files) ? Object.values(files) : []
  return [
    ...blobRefs(entry, o).map(({ hash }) => hash),
    ...snapshots.flatMap((file) => (isObject(file) ? (parseHash(file["blob"]) ?? []) : [])),
  ]
}

/** The blobs of the backup of a migration. */
export function backupHashes({ origin }: Pick<Header, "origin">): readonly string[] {
  const blobs: unknown = origin?.backup?.blobs
  return Array.isArray(blobs) ? blobs.flatMap((ref) => parseHash(ref) ?? []) : []
}

/** Checks parents, targets, compactions and branches. Stubs are sufficient. */
export function checkLog(log: EntryLog, header: Header, settled: number, report: Report): void {
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined) continue
    const parent = parentDiagnostic(log, seq)
    if (parent !== undefined) report(parent)
    if (namesTarget(entry.type)) checkTarget(log, entry, report)
  }
  checkStates(log, header, report)
  const leaf = defaultLeaf(log) ?? null
  const leafId = leaf === null ? null : (log.at(leaf) as Entry).id
  const divergence = divergenceAt(leafId, openAt(log, undefined, leaf, settled))
  if (divergence !== undefined) report(toDiagnostic(divergence))
}

function checkTarget(log: EntryLog, { id, seq, type, targetId }: Entry, report: Report): void {
  if (typeof targetId !== "string" || log.find(targetId, seq) !== undefined) return
  const comesLater = log.find(targetId) !== undefined
  const why = comesLater ? "which comes later" : "which is not in the log"
  const message = `Entry ${id} (line ${seq}, ${type}) refers to ${targetId}, ${why}; it has no effect.`
  report({ code: comesLater ? "forward_reference" : "missing_target", seq, entryId: id, message })
}

function checkStates(log: EntryLog, header: Header, report: Report): void {
  const { parents, firstKept } = linkEntries(log)
  for (const [seq, projected] of statesToStore(log, parents, header)) {
    const entry = log.at(seq)
    if (entry === undefined || !storesState(entry.type)) continue
    const keepsNothing = entry.type !== "compaction" || entry["firstKeptEntryId"] === entry.id
    if (!keepsNothing && !firstKept.has(seq)) report(missingFirstKept(entry))
    const stored = storedState(entry)
    if (stored === undefined || isSameState(stored, projected, header)) continue
    // With another limit the data of the mode may have been stored in the line of its own entry.
    const hasMoved = Object.keys(storedStateBlobs(entry)).length > 0
    if (hasMoved && isSameState(withoutData(stored), withoutData(projected), header)) continue
    const message = `Entry ${entry.id} (line ${seq}, ${entry.type}) stores a state that differs from the state of its path; a context that begins there uses the stored one.`
    report({ code: "state_mismatch", seq, entryId: entry.id, message })
  }
}

/** Only the data of the mode can be in the blob store, of all that a state has. */
function withoutData(state: ContextState): ContextState {
  const { modeData: _, ...rest } = state
  return rest
}

/** The system prompt of the header overrides the copy in a stored state, so that field is not compared. */
function isSameState(stored: ContextState, projected: ContextState, header: Header): boolean {
  const { systemPromptOverride } = initialState(header)
  const override = systemPromptOverride === undefined ? {} : { systemPromptOverride }
  return isSameJson({ ...stored, ...override }, { ...projected, ...override })
}
