/**
 * The information of a stored session: the stored projection if it is current, else one that is brought up to date from the log. A log is
 * opened only if the path of its leaf must be read, or if it is of another version and must be read completely.
 */
import { type InfoProjection, type SessionInfo, toSessionInfo } from "../info/projection.ts"
import { currentInfo } from "../info/refresh.ts"
import { isCurrent, storedInfo, storeInfo } from "../info/store.ts"
import { currentHeader, notFound, readLines } from "../log/loaded-log.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { retryOn } from "../storage/retry.ts"
import { openSession } from "./open.ts"
import type { LiveSessionOptions } from "./live-session.ts"
import { infoOfMemory, withPathOf } from "./read-log.ts"

/** Attempts to read a log that other writers replace meanwhile. */
const TRIES = 3

/**
 * `listed`: the head of the log, if a list has given it; then the log is not read for its open tips alone. Rejects with `not_found` if the
 * session does not exist, with `not_a_session` if its log is not a session log, and with the errors of the storage.
 */
export function infoOfStored(
  storage: SessionStorage,
  id: string,
  listed: HeadInfo | undefined,
  options: LiveSessionOptions,
  o: CallOptions = {},
): Promise<SessionInfo> {
  const tips = listed === undefined
  let head = listed
  return retryOn("conflict", TRIES, async () => {
    const current = head ?? (await storage.head(id, o))
    if (current === undefined) throw notFound(storage, id)
    // After a conflict it is out of date.
    head = undefined
    return toSessionInfo(id, await projectionOf(storage, id, current, options, { ...o, tips }), current)
  })
}

async function projectionOf(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  options: LiveSessionOptions,
  { tips, ...o }: CallOptions & { readonly tips: boolean },
): Promise<InfoProjection> {
  const kept = await storedInfo(storage, id, head, { ...o, tips })
  if (kept !== undefined && isCurrent(kept, head) && (kept.tips !== undefined || !tips)) return kept
  // A projection that can be continued was made from a log of this version, so only logs without one are checked.
  const isOurs = kept === undefined ? await isOfThisVersion(storage, id, o) : kept.whole === undefined
  const projection = isOurs ? await currentInfo(storage, id, head, { ...o, tips }) : undefined
  if (projection !== undefined && projection.stale !== "path") return projection
  const live = await openSession(storage, id, options, o)
  const made = projection ?? { ...infoOfMemory(live), whole: true, to: { seq: head.next - 1, id: "" } }
  const known = made.stale === "path" ? await withPathOf(live, made, o) : made
  const now = live.state.head
  // Stored, so that the next list does not read the log again.
  if (now?.next === head.next && now.log === head.log) await storeInfo(storage, id, known, o)
  return known
}

async function isOfThisVersion(storage: SessionStorage, id: string, o: CallOptions): Promise<boolean> {
  const [first] = await readLines(storage, id, { from: 0, to: 1 }, o)
  return currentHeader(first) !== undefined
}
