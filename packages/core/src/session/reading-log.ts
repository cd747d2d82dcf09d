/** What is read straight from the storage: every entry, the information, the parts. */
import { SessionError } from "../errors.ts"
import type { Entry } from "../format/records.ts"
import type { CallOptions, HeadInfo, PartInfo, Seq } from "../storage/contract.ts"
import { selectAt } from "./reading.ts"
import { restoreEntries } from "./blobs.ts"
import { currentFold } from "./info-store.ts"
import { toSessionInfo } from "./info.ts"
import type { InfoFold, SessionInfo } from "./info.ts"
import { parseSlot } from "./parse-slots.ts"
import type { SharedSession } from "./shared-session.ts"

/** Acknowledged entries from the storage, then those still pending. Lines that are no entries are left out. */
export async function* readEntries(
  shared: SharedSession,
  range: { readonly from?: Seq; readonly to?: Seq },
  o: CallOptions,
): AsyncIterable<Entry> {
  const { state } = shared
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = range
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  // An older log's entries are what the migration made of them, and all in memory.
  const stored = shared.gate.kind === "open" && state.head !== undefined ? Math.min(state.acked, to) : 0
  if (from < stored) {
    for await (const chunk of shared.storage.read(shared.id, { from, to: stored }, signal)) {
      const slots = chunk.lines.map((line, index) => parseSlot(line, chunk.from + index, () => undefined))
      const entries = slots.filter((slot): slot is Entry => slot !== undefined)
      yield* (await restoreEntries(shared.storage, entries, signal)).entries
    }
  }
  for (let seq = Math.max(from, stored, state.log.from); seq < Math.min(to, state.log.end); seq++) {
    const entry = state.log.at(seq)
    if (entry !== undefined)
      yield* (await restoreEntries(shared.storage, [entry], { ...signal, foreign: shared.gate.kind !== "open" }))
        .entries
  }
}

export async function readInfo(shared: SharedSession, o: CallOptions = {}): Promise<SessionInfo> {
  const { state, storage, id } = shared
  const stored = state.head === undefined ? undefined : await storage.head(id, o)
  if (state.head !== undefined && stored === undefined) {
    throw new SessionError("not_found", `The session ${id} was deleted.`, { session: id, storage: storage.description })
  }
  const head: HeadInfo = stored ?? { next: 0, log: "", bytes: 0, updatedAt: shared.options.now(), parts: [] }
  let fold = state.foldAt(state.pendingCount)
  if (fold === undefined) {
    // Making the fold of an opened log waits until somebody asks.
    const made = await currentFold(storage, id, head, o)
    if (state.acked === made.to.seq + 1) state.fold = made
    fold = made
  }
  return toSessionInfo(id, fold.modelUnknown === true ? await withModel(shared, fold, o) : fold, head)
}

/** After a branch only the new path can tell which model is in force. */
export async function withModel(shared: SharedSession, fold: InfoFold, o: CallOptions = {}): Promise<InfoFold> {
  const { modelUnknown: _, model: __, ...rest } = fold
  const { state } = await selectAt(shared, shared.state.leafId, o)
  const model = Object.hasOwn(state.models, "default") ? state.models["default"] : undefined
  const known: InfoFold = { ...rest, modelIsExplicit: state.modelIsExplicit, ...(model === undefined ? {} : { model }) }
  if (shared.state.fold === fold) shared.state.fold = known
  return known
}

export async function readParts(
  shared: SharedSession,
  o: CallOptions = {},
): Promise<{ readonly bytes: number; readonly parts: readonly PartInfo[] }> {
  const head = shared.state.head === undefined ? undefined : await shared.storage.head(shared.id, o)
  if (head === undefined) return { bytes: 0, parts: [] }
  return { bytes: head.bytes, parts: head.parts ?? [{ from: 0, bytes: head.bytes }] }
}
