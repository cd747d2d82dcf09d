/** Reads the path of an open session: finds and selects entries, restores their blobs, and collects pages of messages and entries. */
import { blocksOf } from "../context/content.ts"
import { selectContext, type Selection } from "../context/select.ts"
import type { SelectedEntry } from "../context/types.ts"
import { SessionError } from "../format/errors.ts"
import { cloneJson } from "../format/clone.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/message.ts"
import type { ContextState, Entry } from "../format/entry.ts"
import { isObject } from "../format/shape.ts"
import { restoreEntries } from "../log/blobs.ts"
import type { InfoProjection } from "../info/projection.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { LogStore } from "../log/load.ts"
import { defaultLeaf, type NeedsOlder, OLDER, parentOf } from "../log/path.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import type { Emitter } from "./events.ts"
import type { ReadableSession } from "./live-types.ts"
import type { HistoryMessage, MessagesOptions, MessagesPage, PathOptions, PathPage } from "./types.ts"

/** The seq of the entry with this id, on any branch; undefined if the log has none. */
export async function findEntry(live: ReadableSession, id: string, o: CallOptions = {}): Promise<Seq | undefined> {
  const { state } = live
  const answer = await live.store.untilKnown<{ seq: Seq | undefined }>(
    () => state.log,
    () => {
      const seq = state.log.find(id)
      return seq === undefined && !state.log.complete ? { older: true } : { seq }
    },
    o,
  )
  return answer.seq
}

/** The default leaf. Reads further back only if the loaded lines do not show it, and the information does not say it. */
export async function readDefaultLeaf(
  log: EntryLog,
  store: LogStore,
  info: InfoProjection | undefined,
  o: CallOptions,
): Promise<Seq | null> {
  const { leaf } = await store.untilKnown<{ leaf: Seq | null }>(
    () => log,
    () => {
      const leaf = defaultLeaf(log)
      if (leaf !== undefined) return { leaf }
      const last = log.entryBefore(log.end)
      return last === undefined || info === undefined ? { older: true } : { leaf: info.leaf === null ? null : last }
    },
    o,
  )
  return leaf
}

/** The entries and the state of the context at an entry; null is the start of the session. Rejects with `not_found`. */
export function selectAt(live: ReadableSession, leafId: string | null, o: CallOptions = {}): Promise<Selection> {
  const { state } = live
  const ask = (): Selection | NeedsOlder => {
    const leaf = leafId === null ? null : state.log.find(leafId)
    if (leaf !== undefined) return selectContext(state.log, leaf, state.header)
    if (!state.log.complete) return { older: true }
    throw unknownEntryError(live, leafId)
  }
  return live.store.untilKnown(() => state.log, ask, o)
}

export function unknownEntryError(live: ReadableSession, id: string | null): SessionError {
  const message = `There is no entry ${JSON.stringify(id)} in session ${live.id}.`
  return new SessionError("not_found", message, { session: live.id })
}

/** The entries and their edits with restored blobs. A missing blob leaves its reference and is reported in `diagnostics`. */
export async function restoreSelected(
  live: ReadableSession,
  selected: readonly SelectedEntry[],
  o: CallOptions,
): Promise<{ entries: readonly SelectedEntry[]; diagnostics: readonly Diagnostic[] }> {
  const flat = selected.flatMap(({ entry, edit }) => (edit === undefined ? [entry] : [entry, edit]))
  const { entries, diagnostics } = await restored(live, flat, o)
  if (entries === flat) return { entries: selected, diagnostics }
  let at = 0
  const whole = selected.map((item): SelectedEntry => {
    const entry = entries[at++] as Entry
    return item.edit === undefined ? { ...item, entry } : { ...item, entry, edit: entries[at++] }
  })
  return { entries: whole, diagnostics }
}

/** The entries with restored blobs. Logs of other programs have no `blobs`: see `RefOptions`. */
export function restored(
  { storage, otherVersion }: ReadableSession,
  entries: readonly Entry[],
  o: CallOptions,
): ReturnType<typeof restoreEntries> {
  return restoreEntries(storage, entries, { ...o, foreign: otherVersion !== undefined })
}

/** The context state with restored blobs. */
export async function restoreState(live: ReadableSession, selection: Selection, o: CallOptions): Promise<ContextState> {
  const { state, stateBlobs: blobs } = selection
  if (blobs === undefined) return state
  const carrier = {
    type: "sessions:state" as const,
    id: "",
    parentId: null,
    seq: 0,
    timestamp: "",
    state,
    blobs,
  }
  const { entries } = await restoreEntries(live.storage, [carrier], o)
  return (entries[0] as typeof carrier).state
}

/** One page of messages, which the caller may change. Rejects with `not_found` for an unknown `before`. */
export async function readMessages(live: ReadableSession, o: MessagesOptions = {}): Promise<MessagesPage> {
  const { entries: selected, ...before } = await readPage(live, o, isMessage)
  const { entries } = await restoreSelected(live, selected, o)
  const messages = entries.map(({ seq, entry }): HistoryMessage => {
    const message = entry["message"] as Message
    const content = message.content === undefined ? undefined : blocksOf(message.content)
    const valid = content === undefined || content === message.content ? message : { ...message, content }
    return { entryId: entry.id, seq, timestamp: entry.timestamp, message: cloneJson(valid) }
  })
  return { messages, ...before }
}

/** One page of entries, of these types only. A missing blob stays a reference and emits a `diagnostic` event. */
export async function readPath(
  live: ReadableSession & { readonly events: Emitter },
  o: PathOptions = {},
): Promise<PathPage> {
  const { types } = o
  const isWanted = (entry: Entry): boolean => types === undefined || types.includes(entry.type)
  const { entries: selected, ...before } = await readPage(live, o, isWanted)
  const { entries, diagnostics } = await restoreSelected(live, selected, o)
  for (const diagnostic of diagnostics) live.events.emit("diagnostic", diagnostic)
  return { entries: entries.map(({ entry }) => entry), ...before }
}

/** Collects backwards from the leaf or from `before` the entries that are wanted and not deleted; in the order of the path. */
async function readPage(
  live: ReadableSession,
  o: Pick<MessagesOptions, "before" | "limit" | "signal">,
  isWanted: (entry: Entry) => boolean,
): Promise<Page> {
  const { limit = 50, before } = o
  const { state } = live
  const { leafId } = state
  const ask = (): Page | NeedsOlder => {
    const { log } = state
    if (before === undefined && leafId === null) return { entries: [] }
    const start = before === undefined ? log.find(leafId ?? "") : placeOf(log, before)
    if (start !== undefined) return collect(log, before === undefined ? start : parentOf(log, start), limit, isWanted)
    if (log.complete) throw unknownEntryError(live, before ?? leafId)
    return { older: true }
  }
  return live.store.untilKnown(() => state.log, ask, o)
}

interface Page {
  readonly entries: readonly SelectedEntry[]
  readonly before?: string
}

/** Collects entries from `start` backwards. Looks for one more than `limit`, to know whether there is an earlier page. */
function collect(log: EntryLog, start: Seq, limit: number, isWanted: (entry: Entry) => boolean): Page | NeedsOlder {
  const entries: SelectedEntry[] = []
  const { deleted } = log
  let seq = start
  for (; seq >= 0; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    if (deleted.has(seq) || !isWanted(entry)) continue
    const oldest = entries[limit - 1]
    if (oldest !== undefined) return { entries: entries.reverse(), before: cursorOf(log, oldest.seq) }
    entries.push({ seq, entry })
  }
  return seq === OLDER ? { older: true, lines: limit + 1 - entries.length } : { entries: entries.reverse() }
}

function isMessage({ type, message }: Entry): boolean {
  return type === "message" && isObject(message) && typeof message["role"] === "string"
}

/** The cursor of an entry: its id. If a damaged log has a later entry with the same id, the seq is added. */
function cursorOf(log: EntryLog, seq: Seq): string {
  const { id } = log.at(seq) as Entry
  return log.find(id) === seq ? id : `${id}@${seq}`
}

function placeOf(log: EntryLog, name: string): Seq | undefined {
  const at = name.lastIndexOf("@")
  const digits = name.slice(at + 1)
  const seq = /^\d{1,16}$/.test(digits) ? Number(digits) : undefined
  return at > 0 && seq !== undefined && log.at(seq)?.id === name.slice(0, at) ? seq : log.find(name)
}
