/** What is read from an open session: each reads back only as far as its answer needs. */
import { assembleContext, checkWindow, sizesOf } from "../context/assemble.ts"
import { counterOf } from "../compaction/settings/levels.ts"
import type { Levels } from "../compaction/settings/levels.ts"
import type { PruneOptions } from "../context/prune/settings.ts"
import { toModelMessages } from "../context/model-messages.ts"
import { renderMessages, blocksOf } from "../context/render.ts"
import { repairMessages } from "../context/repair.ts"
import { selectContext } from "../context/select.ts"
import type { NeedsOlder, SelectedEntry, Selection } from "../context/select.ts"
import { inState } from "../context/state-blobs.ts"
import type { SessionContext } from "../context/types.ts"
import { SessionError } from "../errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/messages.ts"
import type { ContextState, Entry } from "../format/records.ts"
import { isObject } from "../format/shape.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import type { EntryLog } from "../tree/entry-log.ts"
import { OLDER, parentOf } from "../tree/path.ts"
import { restoreEntries } from "./blobs.ts"
import { keepPath, learnPaths } from "./load/known-paths.ts"
import type { PathStore } from "./load/known-paths.ts"
import type { SharedSession } from "./shared-session.ts"
import type { ContextOptions, HistoryMessage, MessagesOptions, MessagesPage } from "./types.ts"

/** The seq of an entry wherever it stands; undefined where the log has none with that id. */
export async function findEntry(shared: SharedSession, id: string, o: CallOptions = {}): Promise<Seq | undefined> {
  const { state } = shared
  const answer = await shared.store.untilKnown<{ seq: Seq | undefined }>(
    () => state.log,
    () => {
      const seq = state.log.find(id)
      return seq === undefined && !state.log.complete ? { older: true } : { seq }
    },
    o,
  )
  return answer.seq
}

/** The selection at the session's leaf, or at another entry. Reads far back for what a path folds to once, and keeps it. */
export async function selectAt(shared: SharedSession, leafId: string | null, o: CallOptions = {}): Promise<Selection> {
  const { state } = shared
  const ask = (): Selection | NeedsOlder => {
    const leaf = leafId === null ? null : state.log.find(leafId)
    if (leaf !== undefined) return selectContext(state.log, leaf, state.header)
    if (!state.log.complete) return { older: true }
    throw unknownEntry(shared, leafId)
  }
  let learned: EntryLog | undefined
  const readFor: { place?: Seq } = {}
  const instead = async ({ pathOf }: NeedsOlder): Promise<boolean> => {
    if (pathOf !== undefined) readFor.place = pathOf
    if (pathOf === undefined || learned === state.log) return false
    learned = state.log
    await learnPaths(pathStore(shared), state.log, o)
    return true
  }
  const selection = await shared.store.untilKnown(() => state.log, ask, o, instead)
  const { place } = readFor
  // What is not acknowledged yet may never stand there.
  const isKept = place === undefined || place >= state.acked || state.log.known(place) !== undefined
  if (!isKept) await keepPath(pathStore(shared), state.log, state.header, place, o)
  return selection
}

function pathStore({ id, storage, state }: SharedSession): PathStore {
  return { id, storage, log: state.head?.log ?? "" }
}

/** `levels`: settings that say how tokens are counted, and how a context is pruned where the call does not. */
export async function readContext(
  shared: SharedSession,
  o: ContextOptions = {},
  levels: Levels = [],
): Promise<SessionContext> {
  const { window } = o
  checkWindow(window)
  const selection = await selectAt(shared, shared.state.leafId, o)
  const restored = await restoreSelected(shared, selection.entries, o)
  const rendered = renderMessages(restored.entries)
  const model = toModelMessages(rendered.messages, o.summaryAs)
  const repaired = repairMessages(model.messages, o.repair ?? "synthesize")
  // Blobs that are missing are told of by rendering, which puts something in their place.
  const diagnostics = [...rendered.diagnostics, ...model.diagnostics, ...repaired.diagnostics]
  const state = await restoreState(shared, selection, o)
  const count = counterOf(levels)
  const counting = count === undefined ? {} : { count }
  const measure = { ...counting, ...(window === undefined ? {} : { window }) }
  const asked = await pruningOf(o, levels, selection)
  const prunedOrNot =
    asked.prune === false
      ? repaired
      : (await loadPruning()).pruneMessages(repaired.messages, asked.prune, sizesOf(state, { ...counting, ...asked }))
  const context = assembleContext({ ...selection, state }, { ...prunedOrNot, diagnostics }, measure)
  return context.fits === false ? (await loadFit()).explainFit(context, measure) : context
}

/** What the call says stands over the settings; without a window in the call it goes by theirs. */
async function pruningOf(
  { prune, window }: ContextOptions,
  levels: Levels,
  selection: Selection,
): Promise<{ readonly prune: boolean | PruneOptions; readonly window?: number }> {
  const given = { prune: prune ?? false, ...(window === undefined ? {} : { window }) }
  const asSet = prune === undefined || (prune !== false && window === undefined)
  if (!asSet || levels.every((level) => level === undefined)) return given
  const set = (await import("./compaction/view.ts")).pruningOf(levels, selection, window)
  return prune === undefined ? set : { ...set, prune }
}

/** Loaded at first use: most contexts are not pruned, and fit. */
const loadPruning = () => import("../context/prune/prune.ts")
const loadFit = () => import("../context/fit.ts")

/** The state with what had left its entries' lines. */
export async function restoreState(shared: SharedSession, selection: Selection, o: CallOptions): Promise<ContextState> {
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

/** A page of the path's messages, read backwards from the leaf or from `before`. */
export async function readMessages(shared: SharedSession, o: MessagesOptions = {}): Promise<MessagesPage> {
  const { limit = 50, before } = o
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new SessionError("invalid", `limit must be a whole number from 1 to 1000, not ${String(limit)}.`, {
      session: shared.id,
    })
  }
  const { state } = shared
  const { leafId } = state
  const ask = (): Page | NeedsOlder => {
    const { log } = state
    if (before === undefined && leafId === null) return { entries: [] }
    const start = before === undefined ? log.find(leafId ?? "") : placeOf(log, before)
    if (start !== undefined) return collectMessages(log, before === undefined ? start : parentOf(log, start), limit)
    if (log.complete) throw unknownEntry(shared, before ?? leafId)
    return { older: true }
  }
  const page = await shared.store.untilKnown(() => state.log, ask, o)
  const restored = await restoreSelected(shared, page.entries, o)
  const messages = restored.entries.map(({ seq, entry }): HistoryMessage => {
    const message = entry["message"] as Message
    const content = message.content === undefined ? undefined : blocksOf(message.content)
    const whole = content === undefined ? message : { ...message, content }
    return { entryId: entry.id, seq, timestamp: entry.timestamp, message: whole }
  })
  return page.before === undefined ? { messages } : { messages, before: page.before }
}

interface Page {
  readonly entries: readonly SelectedEntry[]
  readonly before?: string
}

/** Messages from a place back, one more than asked for, which tells whether there is a page before. */
function collectMessages(log: EntryLog, start: Seq, limit: number): Page | NeedsOlder {
  const entries: SelectedEntry[] = []
  let seq = start
  for (; seq >= 0; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    if (entry.type !== "message" || log.deleted.has(seq) || !isMessage(entry["message"])) continue
    const oldest = entries[limit - 1]
    if (oldest !== undefined) return { entries: entries.reverse(), before: cursorOf(log, oldest.seq) }
    entries.push({ seq, entry })
  }
  return seq === OLDER ? { older: true, lines: limit + 1 - entries.length } : { entries: entries.reverse() }
}

function isMessage(value: unknown): boolean {
  return isObject(value) && typeof value["role"] === "string"
}

/** The name of a place: its entry's id and, where damage gave a later entry the same id, the place itself. */
function cursorOf(log: EntryLog, seq: Seq): string {
  const { id } = log.at(seq) as Entry
  return log.find(id) === seq ? id : `${id}@${seq}`
}

function placeOf(log: EntryLog, name: string): Seq | undefined {
  const [, id, digits] = /^(.+)@(\d+)$/s.exec(name) ?? []
  const seq = Number(digits)
  return id !== undefined && log.at(seq)?.id === id ? seq : log.find(name)
}

export function unknownEntry(shared: SharedSession, id: string | null): SessionError {
  const message = `There is no entry ${JSON.stringify(id)} in session ${shared.id}.`
  return new SessionError("not_found", message, { session: shared.id })
}

export async function restoreSelected(
  shared: SharedSession,
  selected: readonly SelectedEntry[],
  o: CallOptions,
): Promise<{ entries: readonly SelectedEntry[]; diagnostics: readonly Diagnostic[] }> {
  const foreign = shared.gate.kind !== "open"
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
