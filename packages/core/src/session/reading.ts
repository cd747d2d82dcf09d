/** What is read from an open session: each reads back only as far as its answer needs. */
import { assembleContext } from "../context/build.ts"
import { toModelMessages } from "../context/model-messages.ts"
import { renderMessages, blocksOf } from "../context/render.ts"
import { repairMessages } from "../context/repair.ts"
import { selectContext } from "../context/select.ts"
import type { NeedsOlder, SelectedEntry, Selection } from "../context/select.ts"
import type { SessionContext } from "../context/types.ts"
import { SessionError } from "../errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry, Message } from "../format/records.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import { deletedSeqs, OLDER, parentOf } from "../tree/path.ts"
import { restoreEntries } from "./blobs.ts"
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

/** The selection at the session's leaf, or at another entry. */
export function selectAt(shared: SharedSession, leafId: string | null, o: CallOptions = {}): Promise<Selection> {
  const { state } = shared
  const ask = (): Selection | NeedsOlder => {
    const leaf = leafId === null ? null : state.log.find(leafId)
    if (leaf !== undefined) return selectContext(state.log, leaf, state.header)
    if (!state.log.complete) return { older: true }
    throw new SessionError("not_found", `There is no entry ${JSON.stringify(leafId)} in session ${shared.id}.`, {
      session: shared.id,
    })
  }
  return shared.store.untilKnown(() => state.log, ask, o)
}

export async function readContext(shared: SharedSession, o: ContextOptions = {}): Promise<SessionContext> {
  const selection = await selectAt(shared, shared.state.leafId, o)
  const restored = await restoreSelected(shared, selection.entries, o)
  const rendered = renderMessages(restored.entries)
  const model = toModelMessages(rendered.messages, o.summaryAs)
  const repaired = repairMessages(model.messages, o.repair ?? "synthesize")
  const diagnostics = [...restored.diagnostics, ...rendered.diagnostics, ...model.diagnostics, ...repaired.diagnostics]
  const window = o.window === undefined ? {} : { window: o.window }
  return assembleContext(shared.state.log, selection, { messages: repaired.messages, diagnostics }, window)
}

/** A page of the path's messages, read backwards from the leaf or from `before`. */
export async function readMessages(shared: SharedSession, o: MessagesOptions = {}): Promise<MessagesPage> {
  const { limit = 50, before } = o
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new SessionError("invalid", `limit must be a whole number from 1 to 1000, not ${String(limit)}.`, {
      session: shared.id,
    })
  }
  const start = before === undefined ? shared.state.leafId : before
  if (start === null) return { messages: [] }
  const { state } = shared
  const page = await shared.store.untilKnown(
    () => state.log,
    () => collectMessages(shared, start, before !== undefined, limit),
    o,
  )
  const edited = await restoreSelected(
    shared,
    page.seqs.map((seq) => ({ seq, entry: state.log.at(seq) as Entry })),
    o,
  )
  const messages = edited.entries.map(({ seq, entry }): HistoryMessage => {
    const message = entry["message"] as Message
    const content = message.content === undefined ? undefined : blocksOf(message.content)
    const whole = content === undefined ? message : { ...message, content }
    return { entryId: entry.id, seq, timestamp: entry.timestamp, message: whole }
  })
  return page.more ? { messages, before: (messages[0] as HistoryMessage).entryId } : { messages }
}

function collectMessages(
  shared: SharedSession,
  start: string,
  exclusive: boolean,
  limit: number,
): { seqs: Seq[]; more: boolean } | NeedsOlder {
  const { log } = shared.state
  let seq: Seq | undefined = log.find(start)
  if (seq === undefined && log.complete) {
    throw new SessionError("not_found", `There is no entry ${JSON.stringify(start)} in session ${shared.id}.`, {
      session: shared.id,
    })
  }
  if (seq === undefined) return { older: true }
  if (exclusive) seq = parentOf(log, seq)
  const deleted = deletedSeqs(log)
  const seqs: Seq[] = []
  for (; seq >= 0; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    const message = entry["message"] as { role?: unknown } | undefined
    if (entry.type !== "message" || deleted.has(seq) || typeof message?.role !== "string") continue
    if (seqs.length === limit) return { seqs: seqs.reverse(), more: true }
    seqs.push(seq)
  }
  return seq === OLDER ? { older: true } : { seqs: seqs.reverse(), more: false }
}

async function restoreSelected(
  shared: SharedSession,
  selected: readonly SelectedEntry[],
  o: CallOptions,
): Promise<{ entries: readonly SelectedEntry[]; diagnostics: readonly Diagnostic[] }> {
  const flat = selected.flatMap(({ entry, edit }) => (edit === undefined ? [entry] : [entry, edit]))
  const foreign = shared.gate.kind !== "open"
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  const { entries, diagnostics } = await restoreEntries(shared.storage, flat, { ...signal, foreign })
  let at = 0
  const restored = selected.map(({ seq, edit }) => {
    const entry = entries[at++] as Entry
    return edit === undefined ? { seq, entry } : { seq, entry, edit: entries[at++] as Entry }
  })
  return { entries: restored, diagnostics }
}
