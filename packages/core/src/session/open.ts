/** Creates sessions, opens stored ones, and reloads a session whose log another writer has replaced. */
import { FORMAT, type Header, VERSION } from "../format/header.ts"
import type { Entry } from "../format/entry.ts"
import type { CallOptions, Head, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { EntryLog } from "../log/entry-log.ts"
import { defaultLeaf } from "../log/path.ts"
import { contextStart, infoBeside, storedInfo } from "../info/store.ts"
import { fitsLog, type InfoProjection, projectEntry, projectLog, startProjection } from "../info/projection.ts"
import { type LoadedLog, loadLog, loadOlder, type LoadOther } from "../log/loaded-log.ts"
import { LogStore } from "../log/log-store.ts"
import { transferFeature } from "./features.ts"
import { SessionState } from "../write/session-state.ts"
import { LiveSession, type LiveSessionOptions, writeGuardOf } from "./live-session.ts"
import type { CreateOptions } from "./types.ts"
import { encodeHeader } from "../format/line.ts"
import { utf8Length } from "../storage/utf8.ts"

export function newHeader(o: CreateOptions, id: string, now: number): Header {
  const { cwd, title, source, cronJobId, systemPromptOverride, parentSession } = o
  const given = { cwd, title, source, cronJobId, systemPromptOverride, parentSession }
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { type: "session", format: FORMAT, version: VERSION, id, timestamp: new Date(now).toISOString(), ...fields }
}

/** A new session, whose header is written (`head`) or still only in memory (no `head`). */
export function newSession(
  storage: SessionStorage,
  header: Header,
  head: Head | undefined,
  options: LiveSessionOptions,
): LiveSession {
  const state = new SessionState({
    header,
    log: EntryLog.of([undefined]),
    head,
    leafId: null,
    info: () => startProjection(header, head?.log ?? ""),
    bytes: head === undefined ? 0 : utf8Length(encodeHeader(header)) + 1,
  })
  const store = new LogStore({ id: header.id, storage, reading: undefined, diagnostics: [] })
  return new LiveSession({ state, store, options, reload })
}

/**
 * Opens a session by reading its header and the last window of its log. Rejects with `not_found`, `not_a_session`, and the errors of the
 * storage.
 */
export async function openSession(
  storage: SessionStorage,
  id: string,
  options: LiveSessionOptions,
  o: CallOptions = {},
): Promise<LiveSession> {
  const { loaded, beside } = await load(storage, id, options, o)
  const store = new LogStore({ id, storage, reading: loaded, diagnostics: loaded.diagnostics })
  const leafId = await leafOf(loaded.log, store, o)
  const state = new SessionState({
    header: loaded.header,
    log: loaded.log,
    head: { next: loaded.headInfo.next, log: loaded.headInfo.log },
    leafId,
    info: await projectionOf(storage, id, loaded, beside, o),
    bytes: loaded.headInfo.bytes,
  })
  const live = new LiveSession({ state, store, options, reload })
  if (loaded.older !== undefined || loaded.newer !== undefined) live.writeGuard = writeGuardOf(live, loaded)
  return live
}

interface Loaded {
  readonly loaded: LoadedLog
  /** The information that is stored with the head, if its seq matches the head. */
  readonly beside: InfoProjection | undefined
}

async function load(
  storage: SessionStorage,
  id: string,
  { readWindow }: Pick<LiveSessionOptions, "readWindow">,
  o: CallOptions,
): Promise<Loaded> {
  let beside: InfoProjection | undefined
  const contextStartOf = (head: HeadInfo): Seq | undefined => contextStart((beside = infoBeside(head)))
  const loaded = await loadLog(storage, id, loadOther, { ...o, readWindow, contextStart: contextStartOf })
  return { loaded, beside }
}

const loadOther: LoadOther = async (...log) => (await transferFeature()).loadOther(...log)

/**
 * The default leaf: the last entry of the log. Reads further back only if the loaded window has no entry, or ends in the leaves of two
 * turns.
 */
async function leafOf(log: EntryLog, store: LogStore, o: CallOptions): Promise<string | null> {
  const { leaf } = await store.untilKnown<{ leaf: Seq | null }>(
    () => log,
    () => {
      const seq = defaultLeaf(log)
      return seq === undefined || store.tellDivergence(log) === "older" ? { older: true } : { leaf: seq }
    },
    o,
  )
  return leaf === null ? null : (log.at(leaf) as Entry).id
}

/**
 * Returns a function that makes the projection of the log: the stored one, continued with the loaded entries. The function returns
 * undefined if it would need more of the log. It runs on first use, because a session that is only read does not need a projection.
 */
async function projectionOf(
  storage: SessionStorage,
  id: string,
  loaded: LoadedLog,
  beside: InfoProjection | undefined,
  o: CallOptions,
): Promise<() => InfoProjection | undefined> {
  const { log, headInfo, header } = loaded
  const { from, end } = log
  if (loaded.older === undefined && loaded.newer === undefined && !log.complete) {
    const stored = beside ?? (await storedInfo(storage, id, headInfo, o))
    return () => {
      if (stored === undefined || stored.to.seq < from || stored.stale === "log") return undefined
      if (!fitsLog(stored, headInfo.log, log.at(stored.to.seq))) return undefined
      return orUndefined(projectRange(stored, log, { from: stored.to.seq + 1, to: end }))
    }
  }
  return () => {
    const slots = Array.from({ length: end - 1 }, (_, index) => log.at(index + 1))
    return orUndefined(projectLog(startProjection(header, headInfo.log), slots))
  }
}

/** A projection that must be made from the whole log is dropped here; it is made when the information is requested. */
function orUndefined(projection: InfoProjection): InfoProjection | undefined {
  return projection.stale === "log" ? undefined : projection
}

function projectRange(
  start: InfoProjection,
  log: EntryLog,
  range: { readonly from: Seq; readonly to: Seq },
): InfoProjection {
  let projection = start
  for (let seq = range.from; seq < range.to; seq++) projection = projectEntry(projection, log.at(seq), seq)
  return projection
}

/**
 * Loads the log that has replaced the session's log. Returns false, and changes nothing, if that log is of another version, or belongs to
 * another session: it must have the last acknowledged entry or, if the session has none, the same header timestamp.
 */
async function reload({ state, id, storage, store, options }: LiveSession): Promise<boolean> {
  const { loaded, beside } = await load(storage, id, options, {})
  if (loaded.older !== undefined || loaded.newer !== undefined) return false
  const known = state.acknowledgedLeafId ?? state.lastAcknowledgedId
  while (known !== null && loaded.log.find(known) === undefined && !loaded.log.complete) {
    await loadOlder(storage, id, loaded, undefined)
  }
  const ours =
    known === null ? loaded.header.timestamp === state.header.timestamp : loaded.log.find(known) !== undefined
  if (!ours) return false
  const projection = await projectionOf(storage, id, loaded, beside, {})
  // No `await` from here on: a concurrent reader must not see parts of both logs.
  state.header = loaded.header
  state.log = loaded.log
  state.head = { next: loaded.headInfo.next, log: loaded.headInfo.log }
  state.acknowledged = loaded.log.end
  state.bytes = loaded.headInfo.bytes
  state.projectLater(projection)
  store.restart(loaded)
  return true
}
