/** Session information brought up to date from the log, where what is kept of it is not. */
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { infoText, isCurrent, storedInfo, storeInfo } from "./store.ts"
import type { InfoProjection } from "./projection.ts"
import { isUnsure, withPrompts, startProjection, projectEntry, isValueInBlob } from "./projection.ts"
import { withoutReferences } from "../context/missing-blobs.ts"
import { readStart } from "../format/identify.ts"
import { parseLine } from "../format/line.ts"
import type { Entry } from "../format/records.ts"
import { restoreEntries } from "../log/blobs.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { StorageError } from "../storage/errors.ts"
import { PromptList, isInBlob, isPrompt } from "./first-prompt.ts"

/** Lines, or bytes of a log folded anew, from which on the result is worth a document. */
const WORTH_KEEPING_LINES = 1_000
const WORTH_KEEPING_BYTES = 65_536

/** The fold of a stored log of this version up to its end: from what is kept where that fits, else anew. */
export async function currentInfo(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions = {},
): Promise<InfoProjection> {
  const kept = await storedInfo(storage, id, head, o)
  if (kept !== undefined && isCurrent(kept, head)) return kept
  const from = kept === undefined || isUnsure(kept) ? undefined : kept
  const on = from === undefined ? undefined : await projectFurther(storage, id, from, head, o)
  const projection = on === undefined || isUnsure(on) ? await projectAnew(storage, id, head, o) : on
  const worth =
    projection === on
      ? projection.to.seq - (from as InfoProjection).to.seq >= WORTH_KEEPING_LINES
      : head.bytes >= WORTH_KEEPING_BYTES || kept !== undefined
  if (worth || infoText(projection) === undefined) await storeInfo(storage, id, projection, o)
  return projection
}

/** Goes on from a kept fold; undefined where the log is not the one it was made of. */
async function projectFurther(
  storage: SessionStorage,
  id: string,
  kept: InfoProjection,
  head: HeadInfo,
  o: CallOptions,
): Promise<InfoProjection | undefined> {
  let projection = kept
  for await (const { seq, line } of linesOf(storage, id, kept.to.seq, head, o)) {
    if (seq > kept.to.seq) {
      const entry = parseEntry(line, seq, ignore)
      projection = projectEntry(projection, await readable(storage, projection, entry, o), seq)
    } else if (idAt(line, seq) !== kept.to.id) return undefined
  }
  return projection
}

export async function projectAnew(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions,
): Promise<InfoProjection> {
  let projection = startProjection({}, head.log)
  let headerMet = false
  const prompts = new PromptList()
  for await (const { seq, line } of linesOf(storage, id, 0, head, o)) {
    if (!headerMet) {
      // As opening does: what stands before the header and is no record, or a title, is passed over.
      const { first } = readStart([line])
      headerMet = first !== undefined
      const start = startProjection(first ?? {}, head.log)
      projection = headerMet && seq === 0 ? start : { ...start, to: { seq, id: "" } }
      continue
    }
    const entry = await readable(storage, projection, parseEntry(line, seq, ignore), o)
    projection = projectEntry(projection, entry, seq)
    if (entry !== undefined) prompts.see(entry)
  }
  return withPrompts(projection, prompts.toProjection())
}

/** The lines from a place to the head. `conflict` where the log has not got them any more. */
async function* linesOf(
  storage: SessionStorage,
  id: string,
  from: Seq,
  head: HeadInfo,
  o: CallOptions,
): AsyncIterable<{ readonly seq: Seq; readonly line: string }> {
  let seq = from
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  for await (const chunk of storage.read(id, { from, to: head.next }, signal))
    for (const line of chunk.lines) yield { seq: seq++, line }
  if (seq === head.next) return
  const message = `The log of ${id} was deleted or replaced while it was read.`
  throw new StorageError("conflict", message, { session: id, storage: storage.description })
}

/** What the user said, a title or a value may be longer than a line holds; then it lies in the blob store. */
async function readable(
  storage: SessionStorage,
  projection: InfoProjection,
  entry: Entry | undefined,
  o: CallOptions,
): Promise<Entry | undefined> {
  if (entry === undefined || !(isValueInBlob(entry) || isPromptApart(projection, entry))) return entry
  const { entries } = await restoreEntries(storage, [entry], o)
  // Nothing of it is apart any more, whatever it says.
  const { blobs: _, ...whole } = withoutReferences(entries[0] as Entry)
  return whole
}

function isPromptApart(projection: InfoProjection, entry: Entry): boolean {
  return isInBlob(entry) && (entry.type === "context_edit" || (projection.promptsMore !== true && isPrompt(entry)))
}

function idAt(line: string, seq: Seq): string {
  if (seq > 0) return parseEntry(line, seq, ignore)?.id ?? ""
  const { id } = (parseLine(line).record ?? {}) as { id?: unknown }
  return typeof id === "string" ? id : ""
}

function ignore(): void {
  // What is damaged is told of by opening and by verify; information takes what it can read.
}
