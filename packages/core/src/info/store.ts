/**
 * Where session information is kept, and how it is brought up to date. It rides along with appends beside the head; what is too
 * long for that place, or had to be made anew, is the document `sessions/<id>/info`. Neither is trusted over the log. `current-fold.ts` brings it up to date.
 */
import { isObject } from "../format/shape.ts"
import { fits } from "../storage/checks.ts"
import { MAX_INFO_BYTES } from "../storage/contract.ts"
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../format/errors.ts"
import type { InfoProjection } from "./projection.ts"
import { isUnsure } from "./projection.ts"
import { parseProjection } from "./parse-projection.ts"

/** The text that rides along; undefined where it is too long, and the document has to serve. */
export function infoText(projection: InfoProjection): string | undefined {
  // Asked with every append: what is long stays so, and is not written as JSON each time to find out.
  if (titlesLength(projection) > MAX_INFO_BYTES || longMetadata.has(projection.metadata)) return undefined
  const text = JSON.stringify(projection)
  if (fits(text, MAX_INFO_BYTES)) return text
  if (JSON.stringify(projection.metadata).length > MAX_INFO_BYTES) longMetadata.add(projection.metadata)
  return undefined
}

const longMetadata = new WeakSet<object>()

function titlesLength({ userTitle = "", autoTitle = "", headerTitle = "" }: InfoProjection): number {
  return userTitle.length + autoTitle.length + headerTitle.length
}

/** Whether a fold says all there is to say of a log with this head. */
export function isCurrent(projection: InfoProjection, head: HeadInfo): boolean {
  return projection.to.seq === head.next - 1 && !isUnsure(projection)
}

/** What is kept beside a head, and says of itself that it is all there is to say. */
export interface HeadInformation {
  /** Undefined where it is not what it says. */
  readonly projection: () => InfoProjection | undefined
  /** Where the live context begins, if there is a compaction. A hint: it may be wrong. */
  readonly contextStart: Seq | undefined
}

/** Nothing else needs to be looked for then; whether it is true is found out by who asks. */
export function informationOf(head: HeadInfo): HeadInformation | undefined {
  const text = head.info?.text
  const said: Partial<InfoProjection> | undefined = text === undefined ? undefined : parsed(text)
  if (said?.to?.seq !== head.next - 1 || said.modelUnknown !== undefined || isUnsure(said)) return undefined
  const { seq, firstKeptSeq = seq }: { seq?: unknown; firstKeptSeq?: unknown } = said.compaction ?? {}
  const isPlace = Number.isInteger(firstKeptSeq) && Number.isInteger(seq)
  return {
    projection: () => usable(text, head, true),
    contextStart: isPlace ? Math.min(seq as Seq, firstKeptSeq as Seq) : undefined,
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
export async function storedInfo(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions = {},
): Promise<InfoProjection | undefined> {
  const beside = usable(head.info?.text, head, true)
  if (beside !== undefined && isCurrent(beside, head) && beside.modelUnknown !== true) return beside
  const apart = usable((await storage.docs.get(docKey(id), o).catch(ignoreFailure))?.text, head, false)
  if (beside === undefined || apart === undefined) return apart ?? beside
  return preference(apart) > preference(beside) ? apart : beside
}

/** A fold of this very log. Kept in the same row as the head, it is of this log even where it was written before the log had an identity. */
function usable(text: string | undefined, head: HeadInfo, sameRow: boolean): InfoProjection | undefined {
  const parsed = text === undefined ? undefined : parseProjection(text)
  const projection = sameRow && parsed?.log === "" ? { ...parsed, log: head.log } : parsed
  if (projection === undefined || projection.log !== head.log || projection.to.seq >= head.next) return undefined
  return projection.whole === true && projection.to.seq !== head.next - 1 ? undefined : projection
}

/** What costs a whole log to go on from comes last; of two others the newer, then the one that knows the model. */
function preference(projection: InfoProjection): number {
  return (isUnsure(projection) ? 0 : 1e12) + projection.to.seq + (projection.modelUnknown === true ? 0 : 0.5)
}

/** A cache that cannot be read is none; the log is there. */
function ignoreFailure(error: unknown): undefined {
  if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
}

export function docKey(id: string): string {
  return `sessions/${id}/info`
}

/** Writes the document. Somebody else's, written at once, is as good. */
export async function storeInfo(
  storage: SessionStorage,
  id: string,
  projection: InfoProjection,
  o: CallOptions = {},
): Promise<void> {
  const key = docKey(id)
  const isThere = async (): Promise<boolean> => (await storage.head(id, o))?.log === projection.log
  try {
    if (!(await isThere())) return
    const doc = await storage.docs.get(key, o)
    const version = await storage.docs.put(key, JSON.stringify(projection), { ...o, expect: doc?.version ?? null })
    // Deleting took the session's documents along; one that came just after it would stay behind for ever.
    if (!(await isThere())) await storage.docs.delete(key, { ...o, expect: version })
  } catch (error) {
    // A cache: a store that is read-only or full still answers, and a lost race wrote what this would have.
    if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
  }
}
