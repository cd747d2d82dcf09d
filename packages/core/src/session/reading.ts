/** What is read from an open session: each reads back only as far as its answer needs. */
import { assembleContext, checkWindow, sizesOf } from "../context/assemble.ts"
import { counterOf } from "../compaction/settings/levels.ts"
import type { Levels } from "../compaction/settings/levels.ts"
import type { PruneOptions } from "../context/prune/settings.ts"
import { plainMessages } from "../context/plain.ts"
import { selectContext } from "../context/select.ts"
import type { NeedsOlder, Selection } from "../context/select.ts"
import type { SessionContext } from "../context/types.ts"
import { SessionError } from "../format/errors.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { PathStore } from "../log/known-paths.ts"
import { compactionView, fit, pruning, rest } from "./rooms.ts"
import type { SharedSession } from "./shared-session.ts"
import type { ContextOptions } from "./types.ts"

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
    const known = await knownPaths()
    await known?.learnPaths(pathStore(shared), state.log, o)
    return known !== undefined
  }
  const selection = await shared.store.untilKnown(() => state.log, ask, o, instead)
  const { place } = readFor
  // What is not acknowledged yet may never stand there.
  const isKept = place === undefined || place >= state.acked || state.log.known(place) !== undefined
  if (!isKept) await (await knownPaths())?.keepPath(pathStore(shared), state.log, state.header, place, o)
  return selection
}

/** A cache: where its code cannot be had, the log tells. */
function knownPaths(): Promise<Awaited<ReturnType<typeof rest.load>> | undefined> {
  return rest.load().catch(() => undefined)
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
  const plain =
    selection.stateBlobs === undefined
      ? plainMessages(selection.entries, o.repair ?? "synthesize", o.summaryAs)
      : undefined
  const said =
    plain === undefined
      ? await (await rest.load()).contextMessages(shared, selection, o)
      : { messages: plain, state: selection.state, diagnostics: [] }
  const { state, diagnostics } = said
  const count = counterOf(levels)
  const counting = count === undefined ? {} : { count }
  const measure = { ...counting, ...(window === undefined ? {} : { window }) }
  const asked = await pruningOf(o, levels, selection)
  const prunedOrNot =
    asked.prune === false
      ? said
      : (await pruning.load()).pruneMessages(said.messages, asked.prune, sizesOf(state, { ...counting, ...asked }))
  const context = assembleContext({ ...selection, state }, { ...prunedOrNot, diagnostics }, measure)
  return context.fits === false ? (await fit.load()).explainFit(context, measure) : context
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
  const set = (await compactionView.load()).pruningOf(levels, selection, window)
  return prune === undefined ? set : { ...set, prune }
}

export function unknownEntry(shared: SharedSession, id: string | null): SessionError {
  const message = `There is no entry ${JSON.stringify(id)} in session ${shared.id}.`
  return new SessionError("not_found", message, { session: shared.id })
}
