/** The information of a stored log, whoever wrote it: from what is kept of it, else from its end, else from all of it. */
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import type { InfoProjection } from "../info/projection.ts"
import { currentInfo } from "../info/refresh.ts"
import { storeInfo } from "../info/store.ts"
import { currentHeader, readLines } from "../log/loaded-log.ts"
import { openSession } from "./open.ts"
import type { OpeningOptions } from "./open.ts"
import { infoOfMemory, withModel } from "./read-log.ts"

/** Where what is `kept` of it does not do. `not_a_session`, and whatever the storage says. */
export async function infoOfStored(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  kept: InfoProjection | undefined,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  // Where something is kept that goes on being folded, the log is of this version. Else it may be anybody's.
  if (kept === undefined && !(await isOurs(storage, id, o))) return infoOfOther(storage, id, head, options, o)
  const projection = await currentInfo(storage, id, head, o)
  return projection.modelUnknown === true ? withKnownModel(storage, id, head, projection, options, o) : projection
}

async function isOurs(storage: SessionStorage, id: string, o: CallOptions): Promise<boolean> {
  const [first] = await readLines(storage, id, { from: 0, to: 1 }, o)
  return currentHeader(first) !== undefined
}

/** A log of an older version is migrated to be read, all of it, so what it folds to is kept. */
async function infoOfOther(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  const session = await openSession(storage, id, options, o)
  const made = infoOfMemory(session)
  const projection = made.modelUnknown === true ? await withModel(session, made, o) : made
  const now = session.state.head
  if (now?.next !== head.next || now.log !== head.log) return projection
  const whole: InfoProjection = { ...projection, whole: true, to: { seq: head.next - 1, id: "" } }
  await storeInfo(storage, id, whole, o)
  return whole
}

/** Only the leaf's path can tell; the answer is kept, so that the next listing need not look. */
async function withKnownModel(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  projection: InfoProjection,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoProjection> {
  const session = await openSession(storage, id, options, o)
  const known = await withModel(session, projection, o)
  const now = session.state.head
  if (now?.next === head.next && now.log === head.log) await storeInfo(storage, id, known, o)
  return known
}
