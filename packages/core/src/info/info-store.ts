/**
 * Where session information is kept, and how it is brought up to date. It rides along with appends beside the head; what is too
 * long for that place, or had to be made anew, is the document `sessions/<id>/info`. Neither is trusted over the log. `current-fold.ts` brings it up to date.
 */
import { isObject } from "../format/shape.ts"
import { fits } from "../storage/checks.ts"
import { MAX_INFO_BYTES } from "../storage/contract.ts"
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import type { InfoFold } from "./info.ts"
import { isUnsure } from "./info.ts"
import { parseFold } from "./parse-fold.ts"

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

/** What is kept beside a head, and says of itself that it is all there is to say. */
export interface FoldBeside {
  /** Undefined where it is not what it says. */
  readonly fold: () => InfoFold | undefined
  /** Where the live context begins, if there is a compaction. A hint: it may be wrong. */
  readonly live: Seq | undefined
}

/** Nothing else needs to be looked for then; whether it is true is found out by who asks. */
export function foldBeside(head: HeadInfo): FoldBeside | undefined {
  const text = head.info?.text
  const said: Partial<InfoFold> | undefined = text === undefined ? undefined : parsed(text)
  if (said?.to?.seq !== head.next - 1 || said.modelUnknown !== undefined || isUnsure(said)) return undefined
  const { seq, firstKeptSeq = seq }: { seq?: unknown; firstKeptSeq?: unknown } = said.compaction ?? {}
  const isPlace = Number.isInteger(firstKeptSeq) && Number.isInteger(seq)
  return {
    fold: () => usable(text, head, true),
    live: isPlace ? Math.min(seq as Seq, firstKeptSeq as Seq) : undefined,
  }
}

/** Any object: of what it holds nothing is known. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
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

export function docKey(id: string): string {
  return `sessions/${id}/info`
}
