/** What is to be said of entries and of what they refer to. Pure. */
import { initialState, storedState, storesState } from "../context/state.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { entryProblem } from "../format/guards.ts"
import type { ContextState, Entry, Header } from "../format/records.ts"
import { isObject } from "../format/shape.ts"
import { linkSlots } from "./older/links.ts"
import type { Links } from "./older/links.ts"
import { statesToStore } from "./older/states.ts"
import type { Seq } from "../storage/contract.ts"
import { divergenceOf } from "../log/divergence.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { parentDiagnostic } from "../log/path.ts"

type Note = (diagnostic: Diagnostic) => unknown

/** One entry, whole; the log is what stands before it. */
export function checkEntry(log: EntryLog, entry: Entry, seq: Seq, note: Note): void {
  const problem = entryProblem(entry)
  if (problem !== undefined) {
    const message = `Entry ${entry.id} (line ${seq}) is not what its type asks for: ${problem}`
    note({ code: "invalid_record", seq, entryId: entry.id, message })
  }
  const earlier = log.find(entry.id)
  if (earlier === undefined) return
  const message = `Entry ${entry.id} (line ${seq}) has the id of line ${earlier}; a reference means the nearest one before it.`
  note({ code: "duplicate_id", seq, entryId: entry.id, message })
}

/** What entries say of each other, and what the log as a whole says. Contents are not needed. */
export function checkLog(log: EntryLog, header: Header, imported: Seq, note: Note): void {
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined) continue
    const parent = parentDiagnostic(log, seq)
    if (parent !== undefined) note(parent)
    if (TARGETING.has(entry.type)) checkTarget(log, entry, seq, note)
  }
  checkStates(log, header, note)
  const diverged = divergenceOf(log, imported)
  if (diverged !== undefined && diverged !== "older") note(diverged)
}

const TARGETING: ReadonlySet<string> = new Set(["tombstone", "context_edit", "label"])

function checkTarget(log: EntryLog, entry: Entry, seq: Seq, note: Note): void {
  const { targetId } = entry as Readonly<Record<string, unknown>>
  if (typeof targetId !== "string" || log.find(targetId, seq) !== undefined) return
  const place = `Entry ${entry.id} (line ${seq}, ${entry.type}) is about ${targetId}`
  const later = log.find(targetId) !== undefined
  note(
    later
      ? {
          code: "forward_reference",
          seq,
          entryId: entry.id,
          message: `${place}, which comes only later; it has no effect.`,
        }
      : {
          code: "missing_target",
          seq,
          entryId: entry.id,
          message: `${place}, which is not in the log; it has no effect.`,
        },
  )
}

function checkStates(log: EntryLog, header: Header, note: Note): void {
  const slots = Array.from({ length: log.end }, (_, seq) => log.at(seq))
  const links = linkSlots(slots)
  for (const [seq, projected] of statesToStore(slots, links.parents, header)) {
    const entry = log.at(seq)
    if (entry === undefined || !storesState(entry.type)) continue
    if (entry.type === "compaction") checkFirstKept(entry, seq, links, note)
    const stored = storedState(entry)
    if (stored === undefined || isSameState(stored, projected, header)) continue
    const message = `Entry ${entry.id} (line ${seq}, ${entry.type}) stores a state that its path does not project to; a context that begins there uses the stored one.`
    note({ code: "state_mismatch", seq, entryId: entry.id, message })
  }
}

function checkFirstKept(entry: Entry, seq: Seq, links: Links, note: Note): void {
  const kept = links.kept.get(seq)
  const { firstKeptEntryId } = entry as Readonly<Record<string, unknown>>
  if (firstKeptEntryId === entry.id || (kept !== undefined && links.isAncestor(kept, seq))) return
  const message = `Compaction ${entry.id} (line ${seq}) keeps from ${String(firstKeptEntryId)} on, which is not on its path; nothing before it is kept.`
  note({ code: "missing_first_kept", seq, entryId: entry.id, message })
}

/** What the header says of the system prompt holds over any copy of it. */
function isSameState(stored: ContextState, projected: ContextState, header: Header): boolean {
  const { systemPromptOverride } = initialState(header)
  const said = systemPromptOverride === undefined ? {} : { systemPromptOverride }
  return canonical({ ...stored, ...said }) === canonical({ ...projected, ...said })
}

/** Text that is the same for values that are the same but for the order of keys, and for keys of later versions in a state. */
function canonical(state: ContextState): string {
  const { thinkingLevel, models, modelIsExplicit, mode, modeData, injectedTtsrRules, systemPromptOverride } = state
  const defaults = { thinkingLevel, models, modelIsExplicit, mode, modeData, injectedTtsrRules, systemPromptOverride }
  return JSON.stringify(defaults, (_, value: unknown) => (isObject(value) ? sorted(value) : value))
}

function sorted(object: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
