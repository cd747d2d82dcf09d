/** From a stored log, or from nothing, to an open session. */
import { SessionError } from "../../errors.ts"
import { FORMAT, VERSION } from "../../format/records.ts"
import type { Entry, Header } from "../../format/records.ts"
import { unknownVersion } from "../../migrations/identify.ts"
import type { CallOptions, Head, HeadInfo, Seq, SessionStorage } from "../../storage/contract.ts"
import { EntryLog } from "../../tree/entry-log.ts"
import { defaultLeaf } from "../../tree/path.ts"
import { keptFold } from "../info/info-store.ts"
import { fitsLog, foldInfo, foldLog, startFold } from "../info/info.ts"
import type { InfoFold } from "../info/info.ts"
import { isUnsure } from "../info/unsure.ts"
import { loadLog, loadOlder } from "./loaded-log.ts"
import type { LoadedLog } from "./loaded-log.ts"
import { LogStore } from "./log-store.ts"
import type { PieceSizes } from "./pieces.ts"
import { SessionState } from "../session-state.ts"
import { SharedSession } from "../shared-session.ts"
import type { SharedOptions, WriteGate } from "../shared-session.ts"
import type { CreateOptions } from "../types.ts"

export interface OpeningOptions extends SharedOptions {
  readonly migrateOnWrite: boolean
  /** How much of a log is read at a time. */
  readonly pieces: PieceSizes
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
): SharedSession {
  const state = new SessionState({
    header,
    log: EntryLog.of([undefined]),
    head,
    leafId: null,
    fold: startFold(header, head?.log ?? ""),
    bytes: 3 * JSON.stringify(header).length,
  })
  const store = new LogStore({ id: header.id, storage, reading: undefined, diagnostics: [] })
  return new SharedSession({ state, store, options, gate: { kind: "open" }, reload: reloader(storage, options) })
}

/** `not_found`, `not_a_session`, and whatever the storage says. Reads the header and the last piece of the log. */
export async function openSession(
  storage: SessionStorage,
  id: string,
  options: OpeningOptions,
  o: CallOptions = {},
): Promise<SharedSession> {
  const loaded = await loadLog(storage, id, { ...o, pieces: options.pieces })
  const store = new LogStore({ id, storage, reading: loaded, diagnostics: loaded.diagnostics })
  const leafId = await leafOf(loaded.log, store, o)
  const state = new SessionState({
    header: loaded.header,
    log: loaded.log,
    head: { next: loaded.headInfo.next, log: loaded.headInfo.log },
    leafId,
    fold: await foldOf(storage, id, loaded, o),
    bytes: loaded.headInfo.bytes,
  })
  let migrating: Promise<void> | undefined
  const migrate = (): Promise<void> => (migrating ??= migrateOpen(shared).finally(() => (migrating = undefined)))
  const gate = gateOf(storage, id, loaded, options, migrate)
  const shared: SharedSession = new SharedSession({ state, store, options, gate, reload: reloader(storage, options) })
  return shared
}

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

/** The kept fold brought up to date from what is loaded; undefined where that would mean reading further. */
async function foldOf(
  storage: SessionStorage,
  id: string,
  loaded: LoadedLog,
  o: CallOptions,
): Promise<InfoFold | undefined> {
  const { log, headInfo, header } = loaded
  if (loaded.older === undefined && loaded.newer === undefined && !log.complete) {
    const kept = await keptFold(storage, id, headInfo, o)
    if (kept === undefined || kept.to.seq < log.from || isUnsure(kept)) return undefined
    if (!fitsLog(kept, headInfo.log, log.at(kept.to.seq))) return undefined
    return orUndefined(foldRange(kept, log, kept.to.seq + 1))
  }
  const slots = Array.from({ length: log.end - 1 }, (_, index) => log.at(index + 1))
  return orUndefined(foldLog(startFold(header, headInfo.log), slots))
}

/** Where only the log can tell, somebody who asks has it read. */
function orUndefined(fold: InfoFold): InfoFold | undefined {
  return isUnsure(fold) ? undefined : fold
}

function foldRange(start: InfoFold, log: EntryLog, from: number): InfoFold {
  let fold = start
  for (let seq = from; seq < log.end; seq++) fold = foldInfo(fold, log.at(seq), seq)
  return fold
}

function gateOf(
  storage: SessionStorage,
  id: string,
  loaded: LoadedLog,
  options: OpeningOptions,
  migrate: () => Promise<void>,
): WriteGate {
  const about = { session: id, storage: storage.description }
  if (loaded.newer !== undefined) {
    const message = `The log of ${id} ${unknownVersion(loaded.newer.version)}. Use a newer program to write to it.`
    return { kind: "refused", error: new SessionError("newer_version", message, about) }
  }
  if (loaded.older === undefined) return { kind: "open" }
  if (options.migrateOnWrite && storage.capabilities.replace) return { kind: "migrate", migrate }
  const why = options.migrateOnWrite ? `${storage.description} cannot replace a log` : "migrateOnWrite is off"
  const message = `The log of ${id} is of the older version ${loaded.older.version}, and ${why}: it is open for reading only. Fork it to go on.`
  return { kind: "refused", error: new SessionError("read_only", message, about) }
}

/** Writes the migrated log in the older one's place; the session goes on in it. */
async function migrateOpen(shared: SharedSession): Promise<void> {
  const { migrateStored } = await import("../transfer/migrate.ts")
  await migrateStored(shared.storage, shared.id, { blobs: shared.options.blobs })
  const head = await shared.storage.head(shared.id)
  if (head === undefined || !(await shared.reload(head))) {
    throw new SessionError(
      "conflict",
      `The log of ${shared.id} changed while it was migrated. Open the session again.`,
      { session: shared.id },
    )
  }
  shared.gate = { kind: "open" }
}

/** Loads the log that now stands in the session's place, if it is this session's own: it has what was acknowledged. */
function reloader(
  storage: SessionStorage,
  { pieces }: OpeningOptions,
): (shared: SharedSession, head: HeadInfo) => Promise<boolean> {
  return async (shared) => {
    const { state, id } = shared
    const loaded = await loadLog(storage, id, { pieces })
    if (loaded.older !== undefined || loaded.newer !== undefined) return false
    const known = state.ackedLeafId ?? state.lastAckedId
    while (known !== null && loaded.log.find(known) === undefined && !loaded.log.complete) {
      await loadOlder(storage, id, loaded, undefined)
    }
    const ours =
      known === null ? loaded.header.timestamp === state.header.timestamp : loaded.log.find(known) !== undefined
    if (!ours) return false
    // All at once, so that nobody who reads meanwhile sees half of each log.
    const fold = await foldOf(storage, id, loaded, {})
    state.header = loaded.header
    state.log = loaded.log
    state.head = { next: loaded.headInfo.next, log: loaded.headInfo.log }
    state.acked = loaded.log.end
    state.bytesAtMost = loaded.headInfo.bytes
    state.fold = fold
    shared.store.restart(loaded)
    return true
  }
}
