/** Checks the entries of a log, their references, and the states of its compactions and resets. Pure. */
import { initialState, storedState, storesState } from "../context/state.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { entryProblem } from "../format/entry.ts"
import type { ContextState, Entry } from "../format/entry.ts"
import type { Header } from "../format/header.ts"
import { isObject } from "../format/shape.ts"
import { linkSlots } from "./older/links.ts"
import type { Links } from "./older/links.ts"
import { statesToStore } from "./older/states.ts"
import type { Seq } from "../storage/contract.ts"
import { divergenceOf } from "../log/divergence.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { parentDiagnostic } from "../log/path.ts"

type Report = (diagnostic: Diagnostic) => unknown

/** Checks one complete entry; `log` holds the entries before it. */
export function checkEntry(log: EntryLog, entry: Entry, seq: Seq, report: Report): void {
  const problem = entryProblem(entry)
  if (problem !== undefined) {
    const message = `Entry ${entry.id} (line ${seq}) is not valid for its type: ${problem}`
    report({ code: "invalid_record", seq, entryId: entry.id, message })
  }
  const earlier = log.find(entry.id)
  if (earlier === undefined) return
  const message = `Entry ${entry.id} (line ${seq}) has the same id as line ${earlier}; a reference resolves to the nearest earlier entry with that id.`
  report({ code: "duplicate_id", seq, entryId: entry.id, message })
}

/** Checks parents, targets, compactions and branches. Stubs are sufficient. */
export function checkLog(log: EntryLog, header: Header, imported: Seq, report: Report): void {
  for (let seq = 0; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined) continue
    const parent = parentDiagnostic(log, seq)
    if (parent !== undefined) report(parent)
    if (TARGETING.has(entry.type)) checkTarget(log, entry, seq, report)
  }
  checkStates(log, header, report)
  const diverged = divergenceOf(log, imported)
  if (diverged !== undefined && diverged !== "older") report(diverged)
}

const TARGETING: ReadonlySet<string> = new Set(["tombstone", "context_edit", "label"])

function checkTarget(log: EntryLog, entry: Entry, seq: Seq, report: Report): void {
  const { targetId } = entry as Readonly<Record<string, unknown>>
  if (typeof targetId !== "string" || log.find(targetId, seq) !== undefined) return
  const subject = `Entry ${entry.id} (line ${seq}, ${entry.type}) refers to ${targetId}`
  const later = log.find(targetId) !== undefined
  report(
    later
      ? {
          code: "forward_reference",
          seq,
          entryId: entry.id,
          message: `${subject}, which comes later; it has no effect.`,
        }
      : {
          code: "missing_target",
          seq,
          entryId: entry.id,
          message: `${subject}, which is not in the log; it has no effect.`,
        },
  )
}

function checkStates(log: EntryLog, header: Header, report: Report): void {
  const slots = Array.from({ length: log.end }, (_, seq) => log.at(seq))
  const links = linkSlots(slots)
  for (const [seq, projected] of statesToStore(slots, links.parents, header)) {
    const entry = log.at(seq)
    if (entry === undefined || !storesState(entry.type)) continue
    if (entry.type === "compaction") checkFirstKept(entry, seq, links, report)
    const stored = storedState(entry)
    if (stored === undefined || isSameState(stored, projected, header)) continue
    const message = `Entry ${entry.id} (line ${seq}, ${entry.type}) stores a state that differs from the state of its path; a context that begins there uses the stored one.`
    report({ code: "state_mismatch", seq, entryId: entry.id, message })
  }
}

function checkFirstKept(entry: Entry, seq: Seq, links: Links, report: Report): void {
  const kept = links.kept.get(seq)
  const { firstKeptEntryId } = entry as Readonly<Record<string, unknown>>
  if (firstKeptEntryId === entry.id || (kept !== undefined && links.isAncestor(kept, seq))) return
  const message = `Compaction ${entry.id} (line ${seq}) keeps from ${String(firstKeptEntryId)} on, which is not on its path; nothing before it is kept.`
  report({ code: "missing_first_kept", seq, entryId: entry.id, message })
}

/** The system prompt of the header overrides the copy in a stored state, so that field is not compared. */
function isSameState(stored: ContextState, projected: ContextState, header: Header): boolean {
  const { systemPromptOverride } = initialState(header)
  const override = systemPromptOverride === undefined ? {} : { systemPromptOverride }
  return canonical({ ...stored, ...override }) === canonical({ ...projected, ...override })
}

/** JSON with sorted keys; ignores the keys of a state that this version does not know. */
function canonical(state: ContextState): string {
  const { thinkingLevel, models, modelIsExplicit, mode, modeData, injectedTtsrRules, systemPromptOverride } = state
  const defaults = { thinkingLevel, models, modelIsExplicit, mode, modeData, injectedTtsrRules, systemPromptOverride }
  return JSON.stringify(defaults, (_, value: unknown) => (isObject(value) ? sorted(value) : value))
}

function sorted(object: Readonly<Record<string, unknown>>): unknown {
  return Object.fromEntries(Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
