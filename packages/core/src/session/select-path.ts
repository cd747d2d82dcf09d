/** Finds an entry of an open session, and selects the context at an entry. Older lines are read only as far as needed. */
import { selectContext } from "../context/select.ts"
import type { Selection } from "../context/select.ts"
import { SessionError } from "../format/errors.ts"
import type { NeedsOlder } from "../log/path.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import type { ReadableSession } from "./live.ts"

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

/** The entries and the state of the context at an entry; null is the start of the session. Rejects with `not_found`. */
export function selectAt(live: ReadableSession, leafId: string | null, o: CallOptions = {}): Promise<Selection> {
  const { state } = live
  const ask = (): Selection | NeedsOlder => {
    const leaf = leafId === null ? null : state.log.find(leafId)
    if (leaf !== undefined) return selectContext(state.log, leaf, state.header)
    if (!state.log.complete) return { older: true }
    throw unknownEntry(live, leafId)
  }
  return live.store.untilKnown(() => state.log, ask, o)
}

export function unknownEntry(live: ReadableSession, id: string | null): SessionError {
  const message = `There is no entry ${JSON.stringify(id)} in session ${live.id}.`
  return new SessionError("not_found", message, { session: live.id })
}
