/** Reads of an open session: entries in log order, and the information. */
import { SessionError } from "../format/errors.ts"
import { cloneJson } from "../format/clone.ts"
import type { Entry } from "../format/entry.ts"
import { rejectOnAbort, signalOf } from "../storage/signals.ts"
import type { CallOptions, HeadInfo, Seq } from "../storage/contract.ts"
import type { EntrySlot } from "../log/entry-log.ts"
import { currentInfo } from "../info/refresh.ts"
import {
  type InfoProjection,
  projectFurther,
  projectWhole,
  type SessionInfo,
  startProjection,
  toSessionInfo,
  withTips,
} from "../info/projection.ts"
import { tipsOfLog } from "../log/tips-of-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { toWaitAbortedError } from "../write/errors.ts"
import { findEntry, restored } from "./read-path.ts"
import type { Emitter } from "./events.ts"
import type { ReadableSession } from "./live-types.ts"

/** Reads entries in arrays: the acknowledged ones from the storage, then the pending ones. Lines that are not entries are skipped. */
export async function* readEntryRuns(
  live: InformedSession,
  range: { readonly from?: Seq; readonly to?: Seq },
  o: CallOptions,
): AsyncGenerator<readonly Entry[], void, undefined> {
  const { state } = live
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = range
  const signal = signalOf(o)
  // The entries of a log of an older version exist only in memory, as the migration made them.
  const stored = live.otherVersion === undefined ? Math.min(state.acknowledged, to) : 0
  if (from < stored) {
    for await (const chunk of live.storage.read(live.id, { from, to: stored }, signal)) {
      const slots = chunk.lines.map((line, index) => parseEntry(line, chunk.from + index))
      yield* wholeRuns(live, slots, o)
    }
  }
  for (let seq = Math.max(from, stored, state.log.from); seq < Math.min(to, state.log.end); seq++) {
    // These are the log's own. Those above were parsed for this call.
    yield* wholeRuns(live, [cloneJson(state.log.at(seq))], o)
  }
}

/** Yields entries without blobs together, and each entry with blobs in an array of its own, so that one is restored at a time. */
async function* wholeRuns(
  live: InformedSession,
  slots: readonly EntrySlot[],
  o: CallOptions,
): AsyncGenerator<readonly Entry[], void, undefined> {
  const foreign = live.otherVersion !== undefined
  let run: Entry[] = []
  for (const entry of slots) {
    if (entry === undefined) continue
    if (entry.blobs === undefined && !foreign) {
      run.push(entry)
      continue
    }
    if (run.length > 0) yield run
    run = []
    yield [await wholeEntry(live, entry, o)]
  }
  if (run.length > 0) yield run
}

export async function readEntry(live: InformedSession, id: string, o: CallOptions = {}): Promise<Entry | undefined> {
  const seq = await findEntry(live, id, o)
  const entry = seq === undefined ? undefined : live.state.log.at(seq)
  return entry === undefined ? undefined : wholeEntry(live, entry, o)
}

export async function readInfo(live: InformedSession, o: CallOptions = {}): Promise<SessionInfo> {
  const { state, storage, id } = live
  if (state.info?.tips === undefined && live.readingTips !== undefined) {
    const message = `Reading the information of ${id} was aborted.`
    await rejectOnAbort(live.readingTips, o.signal, toWaitAbortedError(id, message))
  }
  const head = await storage.head(id, o)
  if (head === undefined) throw deletedError(live)
  const replaced = head.log !== state.head.log
  const projection = replaced ? await currentInfo(storage, id, head, o) : await infoOfOpen(live, head, o)
  // Another writer's migration rewrites the log and keeps `createdAt`. With another `createdAt`, the id was deleted and created again.
  if (replaced && projection.createdAt !== startProjection(state.header, "").createdAt) throw deletedError(live)
  const isOwn = !replaced && state.info?.tips !== undefined
  if (isOwn) live.reportTips()
  return toSessionInfo(id, projection, head, isOwn ? state.openTips() : undefined)
}

/** A session as its entries and its information are read. */
export interface InformedSession extends ReadableSession {
  readonly events: Emitter
  /** The tips of the log are not known, and are read in the background. Never rejects. */
  readonly readingTips: Promise<void> | undefined
  /** Reports the open tips, if one of them was not reported yet. */
  reportTips(): void
}

/** The projection that the session keeps current, in which the values that a list shows may be stale. If it has none, it is made now. */
export async function knownInfo(live: InformedSession, o: CallOptions = {}): Promise<InfoProjection> {
  if (live.state.info !== undefined) return live.state.info
  const head = await live.storage.head(live.id, o)
  if (head === undefined) throw deletedError(live)
  return infoOfOpen(live, head, o)
}

/** The projection that the session keeps current; if it has none, or no tips, it is made now, from memory or from the stored log. */
async function infoOfOpen(live: InformedSession, head: HeadInfo, o: CallOptions): Promise<InfoProjection> {
  const { state } = live
  const { info } = state
  if (isComplete(info)) return info
  if (live.otherVersion !== undefined) return infoOfMemory(live)
  const made = await readTips(live, head, o)
  const learned = state.info
  return isComplete(learned) ? learned : projectFurther(made, state)
}

function isComplete(info: InfoProjection | undefined): info is InfoProjection {
  return info?.tips !== undefined && info.stale === undefined
}

/** Reads the log for the information and the tips that the session does not have, and reports the tips that are open. */
export async function readTips(live: InformedSession, head: HeadInfo, o: CallOptions): Promise<InfoProjection> {
  const known = await currentInfo(live.storage, live.id, head, { ...o, tips: true })
  live.state.learn(known)
  live.reportTips()
  return known
}

/** The projection of a log that is completely in memory: the migrated log of an older version. */
export function infoOfMemory({ state }: InformedSession): InfoProjection {
  const { log, head, settled } = state
  return withTips(projectWhole(state, head.log), tipsOfLog(log, settled), settled)
}

function deletedError({ id, storage }: InformedSession): SessionError {
  const message = `The session ${id} was deleted while it was open.`
  return new SessionError("not_found", message, { session: id, storage: storage.description })
}

/** Restores the blobs of one entry. Several at once would take much memory: a blob may be far larger than the lines of a window. */
async function wholeEntry(live: InformedSession, entry: Entry, o: CallOptions): Promise<Entry> {
  const { entries, diagnostics } = await restored(live, [entry], o)
  for (const diagnostic of diagnostics) live.events.emit("diagnostic", diagnostic)
  return entries[0] as Entry
}
