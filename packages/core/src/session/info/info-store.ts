/**
 * Where session information is kept, and how it is brought up to date. It rides along with appends beside the head; what is too
 * long for that place, or had to be made anew, is the document `sessions/<id>/info`. Neither is trusted over the log.
 */
import { fits } from "../../storage/checks.ts"
import { MAX_INFO_BYTES } from "../../storage/contract.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../../storage/contract.ts"
import { hasCode } from "../../storage/errors.ts"
import type { InfoFold } from "./info.ts"
import { isUnsure } from "./unsure.ts"
import { parseFold } from "./parse-fold.ts"
import { foldAnew, foldOn } from "./read-fold.ts"

/** Lines, or bytes of a log folded anew, from which on the result is worth a document. */
const WORTH_KEEPING_LINES = 1_000
const WORTH_KEEPING_BYTES = 65_536

/** The text that rides along; undefined where it is too long, and the document has to serve. */
export function infoText(fold: InfoFold): string | undefined {
  // Asked with every append: what is long stays so, and is not written as JSON each time to find out.
  if (titlesLength(fold) > MAX_INFO_BYTES || longMetadata.has(fold.metadata)) return undefined
  const text = JSON.stringify(fold)
  if (fits(text, MAX_INFO_BYTES)) return text
  if (JSON.stringify(fold.metadata).length > MAX_INFO_BYTES) longMetadata.add(fold.metadata)
  return undefined
}

const longMetadata = new WeakSet<object>()

function titlesLength({ userTitle = "", autoTitle = "", headerTitle = "" }: InfoFold): number {
  return userTitle.length + autoTitle.length + headerTitle.length
}

/** Whether a fold says all there is to say of a log with this head. */
export function isCurrent(fold: InfoFold, head: HeadInfo): boolean {
  return fold.to.seq === head.next - 1 && !isUnsure(fold)
}

/** The best fold kept of a log, unchecked: one that goes on without reading the whole log, then the newest. */
export async function keptFold(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions = {},
): Promise<InfoFold | undefined> {
  const beside = usable(head.info?.text, head, true)
  if (beside !== undefined && isCurrent(beside, head) && beside.modelUnknown !== true) return beside
  const apart = usable((await storage.docs.get(docKey(id), o).catch(orElse))?.text, head, false)
  if (beside === undefined || apart === undefined) return apart ?? beside
  return preference(apart) > preference(beside) ? apart : beside
}

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

/** Writes the document. Somebody else's, written at once, is as good. */
export async function keepFold(
  storage: SessionStorage,
  id: string,
  fold: InfoFold,
  o: CallOptions = {},
): Promise<void> {
  const key = docKey(id)
  const isThere = async (): Promise<boolean> => (await storage.head(id, o))?.log === fold.log
  try {
    if (!(await isThere())) return
    const doc = await storage.docs.get(key, o)
    const version = await storage.docs.put(key, JSON.stringify(fold), { ...o, expect: doc?.version ?? null })
    // Deleting took the session's documents along; one that came just after it would stay behind for ever.
    if (!(await isThere())) await storage.docs.delete(key, { ...o, expect: version })
  } catch (error) {
    // A cache: a store that is read-only or full still answers, and a lost race wrote what this would have.
    if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
  }
}

/** A fold of this very log. Kept in the same row as the head, it is of this log even where it was written before the log had an identity. */
function usable(text: string | undefined, head: HeadInfo, sameRow: boolean): InfoFold | undefined {
  const parsed = text === undefined ? undefined : parseFold(text)
  const fold = sameRow && parsed?.log === "" ? { ...parsed, log: head.log } : parsed
  if (fold === undefined || fold.log !== head.log || fold.to.seq >= head.next) return undefined
  return fold.whole === true && fold.to.seq !== head.next - 1 ? undefined : fold
}

/** What costs a whole log to go on from comes last; of two others the newer, then the one that knows the model. */
function preference(fold: InfoFold): number {
  return (isUnsure(fold) ? 0 : 1e12) + fold.to.seq + (fold.modelUnknown === true ? 0 : 0.5)
}

/** A cache that cannot be read is none; the log is there. */
function orElse(error: unknown): undefined {
  if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
}

function docKey(id: string): string {
  return `sessions/${id}/info`
}
