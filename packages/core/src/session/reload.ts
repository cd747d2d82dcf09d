/** Loads the log of an open session again: another writer has rewritten it, or it has lost lines. */
import type { Entry } from "../format/entry.ts"
import { SessionError } from "../format/errors.ts"
import { isSameCreation } from "../format/identify.ts"
import type { EntryLog, EntrySlot } from "../log/entry-log.ts"
import { loadOlder, readLines } from "../log/load.ts"
import { ROOT } from "../log/path.ts"
import type { ReloadableSession } from "./live-types.ts"
import type { Seq } from "../storage/contract.ts"
import { headAt } from "../storage/head.ts"
import type { SessionState } from "../write/session-state.ts"
import { isHeldLine, type Resolved, toLines } from "../write/resolve-outcome.ts"
import type { LogEnd } from "../write/writer.ts"

/** Finds out what became of the log of a session, given an end that does not have the session's last line. */
export function resolveOther(live: ReloadableSession, end: LogEnd): Promise<Resolved> {
  return end.head.log === live.state.head.log ? resolveCut(live, end) : resolveReplaced(live)
}

/** Lines that may be of a write that then failed are dropped without a word. */
async function resolveCut(live: ReloadableSession, end: LogEnd): Promise<Resolved> {
  const { id, storage, state, store, reading } = live
  const { from } = state.log
  const { next, log } = end.head
  const lines = await readLines(storage, id, { from, to: next, log })
  // The last one is another, even if it has the same id.
  const known = Math.min(lines.length, state.acknowledged - 1 - from)
  let same = 0
  while (same < known && isHeldLine(state.log, from + same, lines[same] as string)) same++
  const cut = from + same
  if (cut >= state.sure)
    return { ...toLines(state, lines.slice(same), cut, end), head: headAt(next, log, lines.at(-1)) }
  const opened = await reading.open()
  if (opened.otherVersion !== undefined) return { kind: "gone" }
  // No `await` from here on: a concurrent reader must not see parts of both logs.
  const own = state.ownFrom(cut)
  disownFrom(state, cut)
  const { header, log: now, head, acknowledged, acknowledgedLeafId, bytes, reported, settled } = opened.state
  Object.assign(state, { header, log: now, head, acknowledged, acknowledgedLeafId, bytes, reported, settled })
  state.sure = acknowledged
  state.projection = () => opened.state.projection
  state.replacePending([])
  store.reading = opened.store.reading
  store.outdated = false
  const lost = own.filter((entry) => now.find(entry.id) === undefined)
  const slots = slotsOf(now, Math.max(cut, now.from), acknowledged)
  return { kind: "reloaded", from: cut, slots, loss: lostLinesError(live, lost) }
}

function lostLinesError({ id, storage }: ReloadableSession, lost: readonly Entry[]): SessionError {
  const message = `The log of ${id} has lost lines that this session had read or appended, as if an older copy was put back. Nothing was written, and the session goes on from the log as it is. ${lost.length} entries of its own are gone: \`lost\` has them.`
  return new SessionError("conflict", message, { session: id, storage: storage.description, lost })
}

async function resolveReplaced(live: ReloadableSession): Promise<Resolved> {
  const { state } = live
  const { log, acknowledged } = state
  // A log without entries cannot be told from one that was created again.
  if (lastAcknowledgedId(state) === null || !(await reload(live))) return { kind: "gone" }
  let from = state.acknowledged
  for (; from > state.log.from; from--) {
    const id = state.log.at(from - 1)?.id
    const before = id === undefined ? undefined : log.find(id)
    if (before !== undefined && before < acknowledged) break
  }
  return { kind: "reloaded", from, slots: slotsOf(state.log, from, state.acknowledged) }
}

/** Of the last acknowledged entry; null where there is none. */
function lastAcknowledgedId({ log, acknowledged }: SessionState): string | null {
  return log.at(log.entryBefore(acknowledged) ?? ROOT)?.id ?? null
}

/** The lines from one on do not count as the session's own any more. */
function disownFrom({ own }: SessionState, seq: Seq): void {
  const runs = own.splice(0)
  for (let run = 0; run < runs.length; run += 2) {
    const [from, to] = runs.slice(run) as [Seq, Seq]
    if (from < seq) own.push(from, Math.min(to, seq))
  }
}

function slotsOf(log: EntryLog, from: Seq, to: Seq): EntrySlot[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, index) => log.at(from + index))
}

/**
 * Loads the log that has replaced the session's log. Returns false, and changes nothing, if that log is of another version, or belongs to
 * another session: it must have the last acknowledged entry or, if the session has none, be of the same creation.
 */
export async function reload(live: ReloadableSession): Promise<boolean> {
  const { state, id, storage, store, reading } = live
  const loaded = await reading.load()
  if (loaded.older !== undefined || loaded.newer !== undefined) return false
  const known = state.acknowledgedLeafId ?? lastAcknowledgedId(state)
  while (known !== null && loaded.log.find(known) === undefined && !loaded.log.complete) {
    await loadOlder(storage, id, loaded, undefined)
  }
  const isSame = known === null ? isSameCreation(loaded.header, state.header) : loaded.log.find(known) !== undefined
  if (!isSame) return false
  const info = await reading.infoOf(loaded)
  // No `await` from here on: a concurrent reader must not see parts of both logs.
  const own = state.ownFrom(0)
  disownFrom(state, 0)
  state.header = loaded.header
  state.log = loaded.log
  state.head = headAt(loaded.headInfo.next, loaded.headInfo.log, loaded.last)
  state.acknowledged = loaded.log.end
  state.sure = loaded.log.end
  state.bytes = loaded.headInfo.bytes
  state.settled = loaded.settled
  state.projection = info
  for (const entry of own) {
    const seq = state.log.find(entry.id)
    if (seq !== undefined) state.appended(seq, seq + 1)
  }
  store.reading = loaded.reading
  store.outdated = false
  return true
}
