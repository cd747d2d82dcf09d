/**
 * Stores session information: beside the head, written with each append, or as the document `sessions/<id>/info` if it is too long for
 * that or was projected from a whole log. Both are caches. The log wins over them; `refresh.ts` brings them up to date.
 */
import { fits } from "../storage/utf8.ts"
import { type CallOptions, type HeadInfo, MAX_INFO_BYTES, type Seq, type SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../format/errors.ts"
import { type InfoProjection, withTips } from "./projection.ts"
import { encodeProjection, parseProjection } from "./projection-text.ts"

/** The text to be stored beside the head, without the tips if it is too long with them; undefined if it is too long for that. */
export function infoText(projection: InfoProjection): string | undefined {
  const text = encodeProjection(projection)
  if (fits(text, MAX_INFO_BYTES)) return text
  return projection.tips === undefined ? undefined : infoText(withTips(projection, undefined, 0))
}

/** Whether all of the information can be stored beside the head. If not, it belongs into the document. */
export function fitsBesideHead(projection: InfoProjection): boolean {
  return fits(encodeProjection(projection), MAX_INFO_BYTES)
}

/** The projection beside the head, if it is of this head. Only the log can tell whether that is true. It may be stale. */
export function infoBeside(head: HeadInfo): InfoProjection | undefined {
  const projection = usable(head.info?.text, head, true)
  return projection?.to.seq === head.next - 1 ? projection : undefined
}

/** Where the context of the leaf begins, if it has a compaction. A hint, which may be wrong. */
export function contextStart(projection: InfoProjection | undefined): Seq | undefined {
  if (projection?.compaction === undefined) return undefined
  const { seq, firstKeptSeq = seq } = projection.compaction
  return Number.isInteger(firstKeptSeq) ? Math.min(seq, firstKeptSeq) : undefined
}

/**
 * The stored projection with the most lines that has what the caller needs. It is not compared with the log. The document is only read if
 * the one beside the head is not enough.
 */
export async function storedInfo(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  isEnough: (projection: InfoProjection) => boolean,
  o: CallOptions,
): Promise<InfoProjection | undefined> {
  const needed = (projection: InfoProjection | undefined): InfoProjection | undefined =>
    projection && isEnough(projection) ? projection : undefined
  const beside = needed(usable(head.info?.text, head, true))
  if (beside?.to.seq === head.next - 1) return beside
  const document = needed(usable((await storage.docs.get(docKey(id), o).catch(ignoreFailure))?.text, head, false))
  return beside === undefined || (document !== undefined && document.to.seq > beside.to.seq) ? document : beside
}

/** A projection of this very log. One beside the head may have been written before the log had an identity. */
function usable(text: string | undefined, head: HeadInfo, besideHead: boolean): InfoProjection | undefined {
  const parsed = text === undefined ? undefined : parseProjection(text)
  const projection = besideHead && parsed?.log === "" ? { ...parsed, log: head.log } : parsed
  if (projection === undefined || projection.log !== head.log || projection.to.seq >= head.next) return undefined
  return projection.whole === true && projection.to.seq !== head.next - 1 ? undefined : projection
}

/** If the cache cannot be read, the log is; if it cannot be written, nothing is lost. */
function ignoreFailure(error: unknown): undefined {
  if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
}

export function docKey(id: string): string {
  return `sessions/${id}/info`
}

/** Writes the document, unless its projection is stale. If another program writes it at the same time, either text will do. */
export async function storeInfo(
  storage: SessionStorage,
  id: string,
  projection: InfoProjection,
  o: CallOptions = {},
): Promise<void> {
  const key = docKey(id)
  const isThere = async (): Promise<boolean> => (await storage.head(id, o))?.log === projection.log
  if (projection.stale) return
  try {
    if (!(await isThere())) return
    const doc = await storage.docs.get(key, o)
    const version = await storage.docs.put(key, encodeProjection(projection), { ...o, expect: doc?.version ?? null })
    // A deletion also deletes the session's documents. One that was written just after it would stay for ever.
    if (!(await isThere())) await storage.docs.delete(key, { ...o, expect: version })
  } catch (error) {
    // A storage that is read-only or full still serves the information, and after a conflict another program has written it.
    ignoreFailure(error)
  }
}
