import type { SharedSession } from "./shared-session.ts"
import { loadLog, loadOlder } from "../log/loaded-log.ts"
import { foldOf } from "./opening.ts"

/** Loads the log that now stands in the session's place, if it is this session's own: it has what was acknowledged. */
export async function reload({ state, id, storage, store, options }: SharedSession): Promise<boolean> {
  const loaded = await loadLog(storage, id, { pieces: options.pieces })
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
  state.foldLater(fold)
  store.restart(loaded)
  return true
}
