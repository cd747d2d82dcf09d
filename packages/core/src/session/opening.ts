/** From a stored log, or from nothing, to an open session. */
import { FORMAT, VERSION } from "../format/records.ts"
import type { Entry, Header } from "../format/records.ts"
import type { CallOptions, Head, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { EntryLog } from "../log/entry-log.ts"
import { defaultLeaf } from "../log/path.ts"
import { foldBeside, keptFold } from "../info/info-store.ts"
import type { FoldBeside } from "../info/info-store.ts"
import { fitsLog, foldInfo, foldLog, startFold, isUnsure } from "../info/info.ts"
import type { InfoFold } from "../info/info.ts"
import { loadLog, loadOlder } from "../log/loaded-log.ts"
import type { LoadedLog, LoadOther } from "../log/loaded-log.ts"
import { LogStore } from "../log/log-store.ts"
import { transferFeature } from "./features.ts"
import { writeGuardOf } from "./write-guard.ts"
import { SessionState } from "../write/session-state.ts"
import { LiveSession } from "./live-session.ts"
import type { LiveSessionOptions } from "./live-session.ts"
import type { CreateOptions } from "./types.ts"

export interface OpeningOptions extends LiveSessionOptions {
  readonly migrateOnWrite: boolean
}

export function newHeader(o: CreateOptions, id: string, now: number): Header {
  const { cwd, title, source, cronJobId, systemPromptOverride, parentSession } = o
  const given = { cwd, title, source, cronJobId, systemPromptOverride, parentSession }
  const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  return { type: "session", format: FORMAT, version: VERSION, id, timestamp: new Date(now).toISOString(), ...fields }
}

/** A session that is new: written already (`head`), or waiting in memory. */
export function newSession(
  storage: SessionStorage,
  header: Header,
  head: Head | undefined,
  options: OpeningOptions,
): LiveSession {
  const state = new SessionState({
    header,
    log: EntryLog.of([undefined]),
    head,
    leafId: null,
    fold: () => startFold(header, head?.log ?? ""),
    bytes: 3 * JSON.stringify(header).length,
  })
  const store = new LogStore({ id: header.id, storage, reading: undefined, diagnostics: [] })
  return new LiveSession({ state, store, options, reload })
}

/** `not_found`, `not_a_session`, and whatever the storage says. Reads the header and the last piece of the log. */
export async function openSession(
  storage: SessionStorage,
  id: string,
  options: OpeningOptions,
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
    fold: await foldOf(storage, id, loaded, beside, o),
    bytes: loaded.headInfo.bytes,
  })
  const shared = new LiveSession({ state, store, options, reload })
  if (loaded.older !== undefined || loaded.newer !== undefined)
    shared.writeGuard = writeGuardOf(shared, loaded, options)
  return shared
}

interface Loaded {
  readonly loaded: LoadedLog
  /** The information beside the head, if that is up to date. */
  readonly beside: FoldBeside | undefined
}

async function load(
  storage: SessionStorage,
  id: string,
  { pieces }: Pick<LiveSessionOptions, "pieces">,
  o: CallOptions,
): Promise<Loaded> {
  let beside: FoldBeside | undefined
  const contextStart = (head: HeadInfo): Seq | undefined => (beside = foldBeside(head))?.live
  const loaded = await loadLog(storage, id, loadOther, { ...o, pieces, contextStart })
  return { loaded, beside }
}

const loadOther: LoadOther = async (...log) => (await transferFeature()).loadOther(...log)

/** The last entry of the log; further back than the first piece only where that holds no entry at all, or tips of two turns. */
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
 * The kept fold brought up to date from what is loaded; undefined where that would mean reading further. Made when it is asked for:
 * whoever only reads a session has no use for it.
 */
async function foldOf(
  storage: SessionStorage,
  id: string,
  loaded: LoadedLog,
  beside: FoldBeside | undefined,
  o: CallOptions,
): Promise<() => InfoFold | undefined> {
  const { log, headInfo, header } = loaded
  const { from, end } = log
  if (loaded.older === undefined && loaded.newer === undefined && !log.complete) {
    const kept = beside === undefined ? await keptFold(storage, id, headInfo, o) : undefined
    return () => {
      const fold = beside?.fold() ?? kept
      if (fold === undefined || fold.to.seq < from || isUnsure(fold)) return undefined
      if (!fitsLog(fold, headInfo.log, log.at(fold.to.seq))) return undefined
      return orUndefined(foldRange(fold, log, { from: fold.to.seq + 1, to: end }))
    }
  }
  return () => {
    const slots = Array.from({ length: end - 1 }, (_, index) => log.at(index + 1))
    return orUndefined(foldLog(startFold(header, headInfo.log), slots))
  }
}

/** Where only the log can tell, somebody who asks has it read. */
function orUndefined(fold: InfoFold): InfoFold | undefined {
  return isUnsure(fold) ? undefined : fold
}

function foldRange(start: InfoFold, log: EntryLog, range: { readonly from: Seq; readonly to: Seq }): InfoFold {
  let fold = start
  for (let seq = range.from; seq < range.to; seq++) fold = foldInfo(fold, log.at(seq), seq)
  return fold
}

/** Loads the log that now stands in the session's place, if it is this session's own: it has what was acknowledged. */
async function reload({ state, id, storage, store, options }: LiveSession): Promise<boolean> {
  const { loaded, beside } = await load(storage, id, options, {})
  if (loaded.older !== undefined || loaded.newer !== undefined) return false
  const known = state.ackedLeafId ?? state.lastAckedId
  while (known !== null && loaded.log.find(known) === undefined && !loaded.log.complete) {
    await loadOlder(storage, id, loaded, undefined)
  }
  const ours =
    known === null ? loaded.header.timestamp === state.header.timestamp : loaded.log.find(known) !== undefined
  if (!ours) return false
  // All at once, so that nobody who reads meanwhile sees half of each log.
  const fold = await foldOf(storage, id, loaded, beside, {})
  state.header = loaded.header
  state.log = loaded.log
  state.head = { next: loaded.headInfo.next, log: loaded.headInfo.log }
  state.acked = loaded.log.end
  state.bytesAtMost = loaded.headInfo.bytes
  state.foldLater(fold)
  store.restart(loaded)
  return true
}
