/** The information of a stored log, whoever wrote it: from what is kept of it, else from its end, else from all of it. */
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import type { InfoFold } from "../info/info.ts"
import { currentFold } from "../info/current-fold.ts"
import { keepFold } from "../info/keep-fold.ts"
import { currentHeader, readLines } from "../log/loaded-log.ts"
import { openSession } from "./opening.ts"
import type { OpeningOptions } from "./opening.ts"
import { foldOfMemory, withModel } from "./read-log.ts"

/** Where what is `kept` of it does not do. `not_a_session`, and whatever the storage says. */
export async function foldOfStored(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  kept: InfoFold | undefined,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoFold> {
  // Where something is kept that goes on being folded, the log is of this version. Else it may be anybody's.
  if (kept === undefined && !(await isOurs(storage, id, o))) return foldOfOther(storage, id, head, options, o)
  const fold = await currentFold(storage, id, head, o)
  return fold.modelUnknown === true ? withKnownModel(storage, id, head, fold, options, o) : fold
}

async function isOurs(storage: SessionStorage, id: string, o: CallOptions): Promise<boolean> {
  const [first] = await readLines(storage, id, { from: 0, to: 1 }, o)
  return currentHeader(first) !== undefined
}

/** A log of an older version is migrated to be read, all of it, so what it folds to is kept. */
async function foldOfOther(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoFold> {
  const session = await openSession(storage, id, options, o)
  const made = foldOfMemory(session)
  const fold = made.modelUnknown === true ? await withModel(session, made, o) : made
  const now = session.state.head
  if (now?.next !== head.next || now.log !== head.log) return fold
  const whole: InfoFold = { ...fold, whole: true, to: { seq: head.next - 1, id: "" } }
  await keepFold(storage, id, whole, o)
  return whole
}

/** Only the leaf's path can tell; the answer is kept, so that the next listing need not look. */
async function withKnownModel(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  fold: InfoFold,
  options: OpeningOptions,
  o: CallOptions,
): Promise<InfoFold> {
  const session = await openSession(storage, id, options, o)
  const known = await withModel(session, fold, o)
  const now = session.state.head
  if (now?.next === head.next && now.log === head.log) await keepFold(storage, id, known, o)
  return known
}
