/**
 * Where session information is kept, and how it is brought up to date. It rides along with appends beside the head; what is too
 * long for that place, or had to be made anew, is the document `sessions/<id>/info`. Neither is trusted over the log.
 */
import type { Entry } from "../format/records.ts"
import { parseLine } from "../format/line.ts"
import { utf8Length } from "../storage/checks.ts"
import { MAX_INFO_BYTES } from "../storage/contract.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import { fitsLog, foldInfo, startFold } from "./info.ts"
import type { InfoFold } from "./info.ts"
import { parseSlot } from "./parse-slots.ts"

/** Lines folded from the log in one go beyond which the result is worth a document. */
const WORTH_KEEPING_LINES = 1_000

/** The text that rides along; undefined where it is too long, and the document has to serve. */
export function infoText(fold: InfoFold): string | undefined {
  const text = JSON.stringify(fold)
  return text.length * 3 <= MAX_INFO_BYTES || utf8Length(text) <= MAX_INFO_BYTES ? text : undefined
}

export function parseFold(text: string): InfoFold | undefined {
  try {
    const fold = JSON.parse(text) as Partial<InfoFold> | null
    const sound =
      fold?.v === 1 &&
      typeof fold.to?.seq === "number" &&
      typeof fold.to.id === "string" &&
      typeof fold.createdAt === "string" &&
      typeof fold.messageCount === "number" &&
      Array.isArray(fold.prompts) &&
      typeof fold.metadata === "object" &&
      typeof fold.metrics === "object"
    return sound ? (fold as InfoFold) : undefined
  } catch {
    return undefined
  }
}

/** The newest fold kept of a log, unchecked. */
export async function keptFold(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions = {},
): Promise<InfoFold | undefined> {
  const beside = head.info === undefined ? undefined : parseFold(head.info.text)
  // Kept in the same row as the head, it is of this log even where it was written before the log had an identity.
  const ours = beside === undefined || beside.log !== "" ? beside : { ...beside, log: head.log }
  if (ours !== undefined && ours.log === head.log && ours.to.seq === head.next - 1) return ours
  const doc = await storage.docs.get(docKey(id), o).catch(() => undefined)
  const apart = doc === undefined ? undefined : parseFold(doc.text)
  const candidates = [ours, apart].filter(
    (fold) => fold !== undefined && fold.log === head.log && fold.to.seq < head.next,
  )
  return candidates.sort((a, b) => (b as InfoFold).to.seq - (a as InfoFold).to.seq)[0]
}

/** The fold of a stored log up to its end: from what is kept where that fits, else anew. */
export async function currentFold(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions = {},
): Promise<InfoFold> {
  const kept = await keptFold(storage, id, head, o)
  if (kept !== undefined && kept.promptsLost !== true && kept.to.seq === head.next - 1) return kept
  const from = kept === undefined || kept.promptsLost === true ? undefined : kept
  const fold =
    (from === undefined ? undefined : await foldOn(storage, id, from, head, o)) ??
    (await foldAnew(storage, id, head, o))
  if (fold.to.seq - (from?.to.seq ?? 0) >= WORTH_KEEPING_LINES || infoText(fold) === undefined)
    await keepFold(storage, id, fold, o)
  return fold
}

/** Writes the document. Somebody else's, written at once, is as good. */
export async function keepFold(
  storage: SessionStorage,
  id: string,
  fold: InfoFold,
  o: CallOptions = {},
): Promise<void> {
  try {
    const doc = await storage.docs.get(docKey(id), o)
    await storage.docs.put(docKey(id), JSON.stringify(fold), { ...o, expect: doc?.version ?? null })
  } catch (error) {
    // A cache: a store that is read-only or full still answers, and a lost race wrote what this would have.
    if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
  }
}

/** Goes on from a kept fold; undefined where the log is not the one it was made of. */
async function foldOn(
  storage: SessionStorage,
  id: string,
  kept: InfoFold,
  head: HeadInfo,
  o: CallOptions,
): Promise<InfoFold | undefined> {
  let fold = kept
  for await (const chunk of storage.read(id, { from: kept.to.seq, to: head.next }, o)) {
    for (const [index, line] of chunk.lines.entries()) {
      const seq = chunk.from + index
      if (seq > kept.to.seq) fold = foldInfo(fold, parseSlot(line, seq, ignore), seq)
      else if (!fitsLog(kept, head.log, seq === 0 ? headerAsEntry(line) : parseSlot(line, seq, ignore)))
        return undefined
    }
  }
  return fold
}

/** Folds the whole log. Where the prompts that a fold remembers were all deleted, a second reading finds the first that was not. */
async function foldAnew(storage: SessionStorage, id: string, head: HeadInfo, o: CallOptions): Promise<InfoFold> {
  const deleted = new Set<unknown>()
  const fold = await foldAll(storage, id, head, o, (entry) => {
    const dropped = entry.type === "tombstone" || (entry.type === "context_edit" && entry["replacement"] === null)
    if (dropped) deleted.add(entry["targetId"])
  })
  if (fold.promptsLost !== true) return fold
  // Dropped prompts do not count as prompts in the second reading, so the first ones left are remembered.
  const kept = await foldAll(storage, id, head, o, undefined, (entry) => deleted.has(entry.id))
  const { promptsLost: _, ...rest } = fold
  return { ...rest, prompts: kept.prompts }
}

async function foldAll(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions,
  see: ((entry: Entry) => void) | undefined,
  leaveOut?: (entry: Entry) => boolean,
): Promise<InfoFold> {
  let fold = startFold({}, head.log)
  for await (const chunk of storage.read(id, { from: 0, to: head.next }, o)) {
    for (const [index, line] of chunk.lines.entries()) {
      const seq = chunk.from + index
      if (seq === 0) {
        fold = startFold(parseLine(line).record ?? {}, head.log)
        continue
      }
      const entry = parseSlot(line, seq, ignore)
      if (entry !== undefined) see?.(entry)
      fold = foldInfo(fold, entry !== undefined && leaveOut?.(entry) === true ? undefined : entry, seq)
    }
  }
  return fold
}

function headerAsEntry(line: string): Entry | undefined {
  const { record } = parseLine(line)
  return record === undefined ? undefined : ({ ...record, id: String(record["id"] ?? "") } as unknown as Entry)
}

function docKey(id: string): string {
  return `sessions/${id}/info`
}

function ignore(): void {
  // What is damaged is told of by opening and by verify; information takes what it can read.
}
