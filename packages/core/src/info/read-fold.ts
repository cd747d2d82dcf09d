/** Folds session information from a stored log: all of it, or what came after a fold that is kept. */
import { withoutReferences } from "../context/missing-blobs.ts"
import { parseLine } from "../format/line.ts"
import type { Entry } from "../format/records.ts"
import { readStart } from "../format/identify.ts"
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { restoreEntries } from "../log/blobs.ts"
import { isPrompt, isStoredApart, PromptList } from "./first-prompt.ts"
import { foldInfo, startFold, withPrompts, isValueApart } from "./info.ts"
import type { InfoFold } from "./info.ts"
import { parseSlot } from "../log/parse-slots.ts"

/** Goes on from a kept fold; undefined where the log is not the one it was made of. */
export async function foldOn(
  storage: SessionStorage,
  id: string,
  kept: InfoFold,
  head: HeadInfo,
  o: CallOptions,
): Promise<InfoFold | undefined> {
  let fold = kept
  for await (const { seq, line } of linesOf(storage, id, kept.to.seq, head, o)) {
    if (seq > kept.to.seq) {
      const entry = parseSlot(line, seq, ignore)
      fold = foldInfo(fold, await readable(storage, fold, entry, o), seq)
    } else if (idAt(line, seq) !== kept.to.id) return undefined
  }
  return fold
}

export async function foldAnew(storage: SessionStorage, id: string, head: HeadInfo, o: CallOptions): Promise<InfoFold> {
  let fold = startFold({}, head.log)
  let headerMet = false
  const prompts = new PromptList()
  for await (const { seq, line } of linesOf(storage, id, 0, head, o)) {
    if (!headerMet) {
      // As opening does: what stands before the header and is no record, or a title, is passed over.
      const { first } = readStart([line])
      headerMet = first !== undefined
      const start = startFold(first ?? {}, head.log)
      fold = headerMet && seq === 0 ? start : { ...start, to: { seq, id: "" } }
      continue
    }
    const entry = await readable(storage, fold, parseSlot(line, seq, ignore), o)
    fold = foldInfo(fold, entry, seq)
    if (entry !== undefined) prompts.see(entry)
  }
  return withPrompts(fold, prompts.toFold())
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
  fold: InfoFold,
  entry: Entry | undefined,
  o: CallOptions,
): Promise<Entry | undefined> {
  if (entry === undefined || !(isValueApart(entry) || isPromptApart(fold, entry))) return entry
  const { entries } = await restoreEntries(storage, [entry], o)
  // Nothing of it is apart any more, whatever it says.
  const { blobs: _, ...whole } = withoutReferences(entries[0] as Entry)
  return whole
}

function isPromptApart(fold: InfoFold, entry: Entry): boolean {
  return isStoredApart(entry) && (entry.type === "context_edit" || (fold.promptsMore !== true && isPrompt(entry)))
}

function idAt(line: string, seq: Seq): string {
  if (seq > 0) return parseSlot(line, seq, ignore)?.id ?? ""
  const { id } = (parseLine(line).record ?? {}) as { id?: unknown }
  return typeof id === "string" ? id : ""
}

function ignore(): void {
  // What is damaged is told of by opening and by verify; information takes what it can read.
}
