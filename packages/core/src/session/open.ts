/** Creates sessions, and opens stored ones. */
import { FORMAT, GIVEN_FIELDS, type Header, VERSION } from "../format/header.ts"
import type { Entry } from "../format/entry.ts"
import type { CallOptions, Head, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { headAt } from "../storage/head.ts"
import { EntryLog } from "../log/entry-log.ts"
import { openAt } from "../log/diverged.ts"
import type { Tips } from "../log/projected-tips.ts"
import { settledLines } from "../log/tips.ts"
import { tipsOfLog } from "../log/tips-of-log.ts"
import { contextStart, infoBeside, storedInfo } from "../info/store.ts"
import { continueTo } from "../info/refresh.ts"
import { hasCode } from "../format/errors.ts"
import {
  defined,
  fitsLog,
  type InfoProjection,
  projectFurther,
  projectWhole,
  startProjection,
  withTips,
} from "../info/projection.ts"
import { type LoadedLog, loadLog, type LoadOther, LogStore } from "../log/load.ts"
import { readTips } from "./read-entries.ts"
import { readDefaultLeaf } from "./read-path.ts"
import { retryOn, retryUnavailable } from "../storage/retry.ts"
import { signalOf } from "../storage/signals.ts"
import { seldomFeature } from "./features/load.ts"
import { SessionState } from "../write/session-state.ts"
import { LiveSession, type LiveSessionOptions } from "./live-session.ts"
import type { LogReading } from "./live-types.ts"
import type { CreateOptions } from "./repository-types.ts"
import { encodeHeader } from "../format/line.ts"
import { utf8Length } from "../storage/utf8.ts"

export function newHeader(o: CreateOptions, id: string, { newId, now }: LiveSessionOptions): Header {
  const given = Object.keys(GIVEN_FIELDS).map((name) => [name, o[name as keyof typeof GIVEN_FIELDS]] as const)
  return {
    type: "session",
    format: FORMAT,
    version: VERSION,
    id,
    timestamp: new Date(now()).toISOString(),
    creation: newId(),
    ...defined(Object.fromEntries(given)),
  }
}

/** A new session in memory, which is not stored yet. */
export function newSession(storage: SessionStorage, header: Header, options: LiveSessionOptions): LiveSession {
  const state = new SessionState({
    header,
    log: EntryLog.of([undefined]),
    head: NOT_STORED,
    leafId: null,
    info: () => startProjection(header, ""),
    bytes: utf8Length(encodeHeader(header)) + 1,
    settled: settledLines(header),
  })
  const store = new LogStore({ id: header.id, storage, reading: undefined, diagnostics: [] })
  return new LiveSession({ state, store, options, reading: readingOf(storage, header.id, options) })
}

const NOT_STORED: Head = { next: 0, log: "" }

/** Attempts to read a log that is replaced, or deleted and created again, each time while it is read. */
const MAX_REPLACED = 10

/**
 * Opens a session by reading its header and the last window of its log. `readTips`: if the tips of the log are not known, the rest of it
 * is read in the background until the signal aborts. Rejects with `not_found`, `not_a_session`, and the errors of the
 * storage.
 */
export function openSession(
  storage: SessionStorage,
  id: string,
  options: LiveSessionOptions,
  o: CallOptions & { readonly readTips?: boolean } = {},
): Promise<LiveSession> {
  return retryOn("conflict", MAX_REPLACED, () => openOnce(storage, id, options, o))
}

async function openOnce(
  storage: SessionStorage,
  id: string,
  options: LiveSessionOptions,
  o: CallOptions & { readonly readTips?: boolean },
): Promise<LiveSession> {
  const loaded = await load(storage, id, options, o)
  const { log, headInfo, settled, beside } = loaded
  const store = new LogStore({ id, storage, reading: loaded.reading, diagnostics: loaded.diagnostics })
  const { from } = log
  let info = await projectionOf(storage, id, loaded, o)
  const leaf = await readDefaultLeaf(log, store, info.further ?? beside, o)
  if (log.from < from) info = await projectionOf(storage, id, loaded, o)
  const { make, tips } = info
  const state = new SessionState({
    header: loaded.header,
    log,
    head: headAt(headInfo.next, headInfo.log, loaded.last),
    leafId: leaf === null ? null : (log.at(leaf) as Entry).id,
    info: make,
    bytes: headInfo.bytes,
    settled,
  })
  const live = new LiveSession({ state, store, options, reading: readingOf(storage, id, options) })
  live.reportTips(openAt(log, tips, leaf, settled))
  if (!isOurs(loaded)) {
    live.otherVersion = (await seldomFeature()).otherVersionOf(live, loaded)
  } else if (tips === undefined && o.readTips === true) {
    // If the log cannot be read, the tips stay unknown, and the next request for the information tries again.
    live.readingTips = readTips(live, headInfo, signalOf(o)).then(
      () => undefined,
      () => undefined,
    )
  }
  return live
}

interface Loaded extends LoadedLog {
  /** The information that is stored with the head, if its seq matches the head. It may be stale. */
  readonly beside: InfoProjection | undefined
}

async function load(
  storage: SessionStorage,
  id: string,
  { readWindow, readers }: Pick<LiveSessionOptions, "readWindow" | "readers">,
  o: CallOptions,
): Promise<Loaded> {
  let beside: InfoProjection | undefined
  const contextStartOf = (head: HeadInfo): Seq | undefined => contextStart((beside = infoBeside(head)))
  const loadOther: LoadOther = async (...log) => (await seldomFeature()).loadOther(readers)(...log)
  const loaded = await loadLog(storage, id, loadOther, { ...o, readWindow, contextStart: contextStartOf })
  return { ...loaded, beside }
}

interface StoredInfo {
  /**
   * Makes the projection of the log: the stored one, continued with the loaded entries, or that of a whole log, on first use, because a
   * session that is only read does not need it. Undefined if it would need more of the log.
   */
  readonly make: () => InfoProjection | undefined
  /** The stored projection, continued up to the end of the log. */
  readonly further: InfoProjection | undefined
  /** The tips at the end of the log, if they are known. */
  readonly tips: Tips | undefined
}

async function projectionOf(storage: SessionStorage, id: string, loaded: Loaded, o: CallOptions): Promise<StoredInfo> {
  const { log, headInfo, settled, beside } = loaded
  const { from, end, complete } = log
  const ours = isOurs(loaded)
  const mustAsk = ours && !complete && beside?.tips === undefined
  const stored = mustAsk ? await storedInfo(storage, id, headInfo, ({ tips }) => tips !== undefined, o) : beside
  const known = stored && stored.to.seq < from ? await continuedTo(from, stored, storage, id, o) : stored
  const isUsable = ours && known !== undefined && fitsLog(known, headInfo.log, log.at(known.to.seq))
  const further = isUsable ? projectFurther(known, loaded) : undefined
  const tips = further?.tips ?? (complete ? tipsOfLog(log, settled) : undefined)
  if (!complete) return { make: () => further, further, tips }
  // By the time of the call the log may have pending entries.
  return { make: () => withTips(projectWhole(loaded, headInfo.log, end), tips, settled), further, tips }
}

/**
 * Information that is older than the loaded lines, such as after a crash, with the lines before them and the first of them. The turn of
 * another writer may be among these. Undefined if one of them cannot be read.
 */
function continuedTo(
  from: Seq,
  stored: InfoProjection,
  storage: SessionStorage,
  id: string,
  o: CallOptions,
): Promise<InfoProjection | undefined> {
  return retryUnavailable(() => continueTo(storage, id, stored, from + 1, o)).catch((error: unknown) => {
    if (hasCode(error, "corrupt")) return undefined
    throw error
  })
}

/** Whether the log is of this version. */
function isOurs({ older, newer }: LoadedLog): boolean {
  return older === undefined && newer === undefined
}

function readingOf(storage: SessionStorage, id: string, options: LiveSessionOptions): LogReading {
  return {
    open: () => openSession(storage, id, options),
    load: () => load(storage, id, options, {}),
    infoOf: async (loaded) => (await projectionOf(storage, id, loaded as Loaded, {})).make,
  }
}
