/** Session information brought up to date from the log, where what is kept of it is not. */
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { infoText, isCurrent, keptFold } from "./info-store.ts"
import type { InfoFold } from "./info.ts"
import { keepFold } from "./keep-fold.ts"
import { foldAnew, foldOn } from "./read-fold.ts"
import { isUnsure } from "./info.ts"

/** Lines, or bytes of a log folded anew, from which on the result is worth a document. */
const WORTH_KEEPING_LINES = 1_000
const WORTH_KEEPING_BYTES = 65_536

/** The fold of a stored log of this version up to its end: from what is kept where that fits, else anew. */
export async function currentFold(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions = {},
): Promise<InfoFold> {
  const kept = await keptFold(storage, id, head, o)
  if (kept !== undefined && isCurrent(kept, head)) return kept
  const from = kept === undefined || isUnsure(kept) ? undefined : kept
  const on = from === undefined ? undefined : await foldOn(storage, id, from, head, o)
  const fold = on === undefined || isUnsure(on) ? await foldAnew(storage, id, head, o) : on
  const worth =
    fold === on
      ? fold.to.seq - (from as InfoFold).to.seq >= WORTH_KEEPING_LINES
      : head.bytes >= WORTH_KEEPING_BYTES || kept !== undefined
  if (worth || infoText(fold) === undefined) await keepFold(storage, id, fold, o)
  return fold
}
