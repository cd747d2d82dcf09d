/** Finds entries and selects a path of an open session; each reads back only as far as its answer needs. */
import { selectContext } from "../context/select.ts"
import type { Selection } from "../context/select.ts"
import { SessionError } from "../format/errors.ts"
import type { NeedsOlder } from "../log/path.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import type { ReadableSession } from "./live.ts"

/** The seq of an entry wherever it stands; undefined where the log has none with that id. */
export async function findEntry(shared: ReadableSession, id: string, o: CallOptions = {}): Promise<Seq | undefined> {
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
export function selectAt(shared: ReadableSession, leafId: string | null, o: CallOptions = {}): Promise<Selection> {
  const { state } = shared
  const ask = (): Selection | NeedsOlder => {
    const leaf = leafId === null ? null : state.log.find(leafId)
    if (leaf !== undefined) return selectContext(state.log, leaf, state.header)
    if (!state.log.complete) return { older: true }
    throw unknownEntry(shared, leafId)
  }
  return shared.store.untilKnown(() => state.log, ask, o)
}

export function unknownEntry(shared: ReadableSession, id: string | null): SessionError {
  const message = `There is no entry ${JSON.stringify(id)} in session ${shared.id}.`
  return new SessionError("not_found", message, { session: shared.id })
}
