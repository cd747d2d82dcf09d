/** Brings session information up to date from the log if the stored one is not. */
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { fitsBesideHead, storedInfo, storeInfo } from "./store.ts"
import { type InfoProjection, ownCopy, projectInPlace, projectWhole, withTips } from "./projection.ts"
import { withoutReferences } from "../context/missing-blobs.ts"
import { replacementOf } from "../context/content.ts"
import type { Entry } from "../format/entry.ts"
import { ENTRY_TYPES } from "../format/entry-types.ts"
import { hasCode } from "../format/errors.ts"
import { isTitleSlot, type LogRecord, parseLine } from "../format/line.ts"
import { isObject } from "../format/shape.ts"
import { restoreEntries } from "../log/blobs.ts"
import { EntryLog } from "../log/entry-log.ts"
import { replacedLogError } from "../log/load.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { isLastWriterWins } from "../log/last-writer-wins.ts"
import { isLeaving, settledLines } from "../log/tips.ts"
import { tipsOfLog } from "../log/tips-of-log.ts"
import { signalOf } from "../storage/signals.ts"
import { firstPromptOf, isTextInBlob, promptText } from "./first-prompt.ts"

/** A projection is stored if it cost so many lines, or so many bytes of a log that was projected from its start. */
const WORTH_KEEPING_LINES = 1_000
const WORTH_KEEPING_BYTES = 65_536

export interface InfoOptions extends CallOptions {
  /** The log is also read if only its tips are not known. They stay unknown if it is damaged. */
  readonly tips?: boolean
}

/**
 * The projection of a stored log up to its end: the stored one, continued or not, else one of the whole log, which `make` reads. `conflict`
 * if the log was replaced or deleted meanwhile.
 */
export async function currentInfo(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  { tips = false, ...o }: InfoOptions = {},
  make: () => Promise<InfoProjection> = () => projectLog(storage, id, head, o),
): Promise<InfoProjection> {
  const known = await continuedInfo(storage, id, head, { tips, ...o })
  if (known !== undefined) return known
  try {
    const made = await make()
    // Where information is stored that is of no use, or where none can be, the log would be read each time.
    const isWorth = head.bytes >= WORTH_KEEPING_BYTES || head.info !== undefined || made.whole || !fitsBesideHead(made)
    if (isWorth) await storeInfo(storage, id, made, o)
    return made
  } catch (error) {
    const withoutTips = tips && hasCode(error, "corrupt") ? await continuedInfo(storage, id, head, o) : undefined
    if (withoutTips === undefined) throw error
    return withoutTips
  }
}

/** The stored projection with the lines since then, if that gives all of the information. */
async function continuedInfo(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  { tips = false, ...o }: InfoOptions,
): Promise<InfoProjection | undefined> {
  const isEnough = (info: InfoProjection): boolean => info.stale === undefined && (info.tips !== undefined || !tips)
  const stored = await storedInfo(storage, id, head, isEnough, o)
  if (stored === undefined || stored.to.seq === head.next - 1) return stored
  const next = await continueTo(storage, id, stored, head.next, o)
  if (next === undefined || !isEnough(next)) return undefined
  if (head.next - stored.to.seq > WORTH_KEEPING_LINES || !fitsBesideHead(next)) await storeInfo(storage, id, next, o)
  return next
}

/** A stored projection with the lines up to `end`; undefined if it was made of another log. */
export async function continueTo(
  storage: SessionStorage,
  id: string,
  stored: InfoProjection,
  end: Seq,
  o: CallOptions,
): Promise<InfoProjection | undefined> {
  const next = ownCopy(stored)
  for await (const { seq, line } of linesOf(storage, id, stored.to.seq, end, o)) {
    if (seq > stored.to.seq) projectInPlace(next, parseEntry(line, seq), seq)
    else if (idAt(line, seq) !== stored.to.id) return undefined
  }
  return next
}

/** Projects a log of this version from its start. Its entries are loaded without what the projection does not need, so a long log fits in memory. */
export async function projectLog(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  o: CallOptions,
): Promise<InfoProjection> {
  const log = new EntryLog()
  let header: LogRecord | undefined
  for await (const { seq, line } of linesOf(storage, id, 0, head.next, o)) {
    const entry = header && parseEntry(line, seq)
    if (header === undefined) {
      // The same as when a session is opened: lines before the header that are not records, or a title, are skipped.
      const { record } = parseLine(line)
      if (record !== undefined && !isTitleSlot(record)) header = record
    }
    const isNeeded = entry?.blobs !== undefined && isLastWriterWins(entry.type)
    log.push(isNeeded ? await restored(storage, entry, o) : entry && lightened(entry))
  }
  const loaded = { header: header ?? {}, log }
  // Only the text of the first prompt is needed, and which one that is is known at the end.
  const texts = new Map<Entry, string>()
  for (let { unread } = firstPromptOf(log); unread !== undefined; { unread } = firstPromptOf(log, log.end, texts))
    texts.set(unread, promptText(await restored(storage, unread, o)))
  const settled = settledLines(loaded.header)
  return withTips(projectWhole(loaded, head.log, log.end, texts), tipsOfLog(log, settled), settled)
}

/** The entry without fields from which neither the information, nor the tips, nor the state of a path follow. */
function lightened(entry: Entry): Entry {
  const { type } = entry
  if (isTextInBlob(entry)) return entry
  if (type === "context_edit")
    return replacementOf(entry)
      ? ({ ...entry, replacement: { content: promptText(entry) } } as unknown as Entry)
      : entry
  const traits = ENTRY_TYPES.get(type)
  if (type !== "message") return traits === undefined || traits.bulky ? stubOf(entry) : entry
  if (!isObject(entry["message"])) return entry
  const { role, provider, model, usage, synthetic, summary } = entry["message"]
  const content = role === "user" ? promptText(entry) : ""
  // In place: the entry was parsed for this reading alone, and a long log has many.
  return Object.assign(entry, { message: { role, provider, model, usage, synthetic, summary, content } })
}

/** The entry without its content: enough for the tips. */
export function stubOf({ type, id, parentId, seq, timestamp, fromId, settles }: Entry): Entry {
  const stub = { type, id, parentId, seq, timestamp } as Entry
  return isLeaving(stub) ? ({ ...stub, fromId, settles } as Entry) : stub
}

/** With its blobs in place, and a sentence in place of each that is missing. */
async function restored(storage: SessionStorage, entry: Entry, o: CallOptions): Promise<Entry> {
  const { entries } = await restoreEntries(storage, [entry], o)
  const { blobs: _, ...whole } = withoutReferences(entries[0] as Entry)
  return whole
}

/** The lines from `from` to `end`. `conflict` if the log does not have them any more. */
async function* linesOf(
  storage: SessionStorage,
  id: string,
  from: Seq,
  end: Seq,
  o: CallOptions,
): AsyncIterable<{ readonly seq: Seq; readonly line: string }> {
  let seq = from
  for await (const chunk of storage.read(id, { from, to: end }, signalOf(o)))
    for (const line of chunk.lines) yield { seq: seq++, line }
  if (seq !== end) throw replacedLogError(storage, id)
}

function idAt(line: string, seq: Seq): string {
  if (seq > 0) return parseEntry(line, seq)?.id ?? ""
  const { id } = (parseLine(line).record ?? {}) as { id?: unknown }
  return typeof id === "string" ? id : ""
}
