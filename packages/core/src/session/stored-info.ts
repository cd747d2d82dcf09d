/**
 * The information of a stored session: the stored projection if it is current, else one that is brought up to date from the log. A log is
 * opened only if it is of another version, which is read completely.
 */
import { type InfoProjection, type SessionInfo, toSessionInfo } from "../info/projection.ts"
import { currentInfo, projectLog } from "../info/refresh.ts"
import { currentHeader, notFoundError, readLines } from "../log/load.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { retryOn } from "../storage/retry.ts"
import { openSession } from "./open.ts"
import type { LiveSessionOptions } from "./live-session.ts"
import { infoOfMemory } from "./read-entries.ts"

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
    if (current === undefined) throw notFoundError(storage, id)
    // After a conflict it is out of date.
    head = undefined
    const read = (): Promise<InfoProjection> => readLog(storage, id, current, options, o)
    return toSessionInfo(id, await currentInfo(storage, id, current, { ...o, tips }, read), current)
  })
}

async function readLog(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  options: LiveSessionOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  if (await isOfThisVersion(storage, id, o)) return projectLog(storage, id, head, o)
  const live = await openSession(storage, id, options, o)
  return { ...infoOfMemory(live), whole: true, to: { seq: live.state.acknowledged - 1, id: "" } }
}

async function isOfThisVersion(storage: SessionStorage, id: string, o: CallOptions): Promise<boolean> {
  const [first] = await readLines(storage, id, { from: 0, to: 1 }, o)
  return currentHeader(first) !== undefined
}
