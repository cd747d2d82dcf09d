/**
 * Brings the stored information of a log up to date: continues it with the log's newest lines, and reads the whole log only if that is
 * not enough, or the log is of another version.
 */
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import type { InfoProjection } from "../info/projection.ts"
import { currentInfo } from "../info/refresh.ts"
import { storeInfo } from "../info/store.ts"
import { currentHeader, readLines } from "../log/loaded-log.ts"
import { openSession } from "./open.ts"
import type { OpeningOptions } from "./open.ts"
import { infoOfMemory, withPathOf } from "./read-log.ts"

/** `kept`: the stored projection, which is not current. Rejects with `not_a_session`, and with the errors of the storage. */
export async function infoOfStored(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  kept: InfoProjection | undefined,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  // A projection that can be continued was made from a log of this version, so only logs without one are checked.
  if (kept === undefined && !(await isOurs(storage, id, o))) return infoOfOther(storage, id, head, options, o)
  const projection = await currentInfo(storage, id, head, o)
  return projection.stale === "path" ? withStoredPath(storage, id, head, projection, options, o) : projection
}

async function isOurs(storage: SessionStorage, id: string, o: CallOptions): Promise<boolean> {
  const [first] = await readLines(storage, id, { from: 0, to: 1 }, o)
  return currentHeader(first) !== undefined
}

/** The log of another version must be read completely. Its projection is stored, so that the next list does not read it again. */
async function infoOfOther(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  const session = await openSession(storage, id, options, o)
  const made = infoOfMemory(session)
  const projection = made.stale === "path" ? await withPathOf(session, made, o) : made
  const now = session.state.head
  if (now?.next !== head.next || now.log !== head.log) return projection
  const whole: InfoProjection = { ...projection, whole: true, to: { seq: head.next - 1, id: "" } }
  await storeInfo(storage, id, whole, o)
  return whole
}

/** Reads the path of the leaf, and stores the completed projection, so that the next list does not read it again. */
async function withStoredPath(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  projection: InfoProjection,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  const session = await openSession(storage, id, options, o)
  const known = await withPathOf(session, projection, o)
  const now = session.state.head
  if (now?.next === head.next && now.log === head.log) await storeInfo(storage, id, known, o)
  return known
}
