/** Brings session information up to date from the log if the stored one is not. */
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { fitsBesideHead, storedInfo, storeInfo } from "./store.ts"
import { type InfoProjection, projectFields, startProjection, withPrompts, withTips } from "./projection.ts"
import { withoutReferences } from "../context/missing-blobs.ts"
import { isTitleSlot, type LogRecord, parseLine } from "../format/line.ts"
import type { Entry } from "../format/entry.ts"
import { hasCode } from "../format/errors.ts"
import type { Header } from "../format/header.ts"
import { restoreEntries } from "../log/blobs.ts"
import { EntryLog } from "../log/entry-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { isStamped } from "../log/stamps.ts"
import { isLeaving, settledLines } from "../log/tips.ts"
import { tipsOfLog } from "../log/whole-tips.ts"
import { StorageError } from "../storage/errors.ts"
import { signalOf } from "../storage/signals.ts"
import { PromptList } from "./first-prompt.ts"

/** A projection is stored if it cost so many lines, or so many bytes of a log that was projected from its start. */
const WORTH_KEEPING_LINES = 1_000
const WORTH_KEEPING_BYTES = 65_536

/**
 * The projection of a stored log of this version up to its end: the stored one, continued or not, else one from the log's start. Its
 * path may still be stale. `tips`: the log is also read if only its tips are not known; they stay unknown if it is damaged. `conflict` if
 * the log was replaced or deleted meanwhile.
 */
export async function currentInfo(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  { tips = false, ...o }: CallOptions & { readonly tips?: boolean } = {},
): Promise<InfoProjection> {
  const stored = await storedInfo(storage, id, head, { ...o, tips })
  const current = await broughtUpToDate(storage, id, head, stored, o)
  if (!tips || current.tips !== undefined) return current
  const known = await withTipsOfLog(storage, id, head, current, o).catch((error: unknown) => {
    if (hasCode(error, "corrupt")) return current
    throw error
  })
  // Stored, so that the log is not read again for them.
  if (known !== current) await storeInfo(storage, id, known, o)
  return known
}

async function broughtUpToDate(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  stored: InfoProjection | undefined,
  o: CallOptions,
): Promise<InfoProjection> {
  const from = stored?.stale === "log" ? undefined : stored
  if (from?.to.seq === head.next - 1) return from
  const further = from && (await projectStored(storage, id, from, head, o))
  const isFurther = further !== undefined && further.stale !== "log"
  const projection = isFurther ? further : await projectStored(storage, id, undefined, head, o)
  const isWorth = isFurther
    ? head.next - (from as InfoProjection).to.seq > WORTH_KEEPING_LINES
    : head.bytes >= WORTH_KEEPING_BYTES || stored !== undefined
  if (isWorth || !fitsBesideHead(projection)) await storeInfo(storage, id, projection, o)
  return projection
}

/** Projects a log up to its head, from its start or behind what `from` has of it. Stale if `from` was made of another log. */
export async function projectStored(
  storage: SessionStorage,
  id: string,
  from: InfoProjection | undefined,
  head: HeadInfo,
  o: CallOptions,
): Promise<InfoProjection> {
  const next = { ...(from ?? startProjection({}, head.log)) }
  const prompts = new PromptList(next)
  let hasHeader = from !== undefined
  for await (const { seq, line } of linesOf(storage, id, from?.to.seq ?? 0, head, o)) {
    if (seq === from?.to.seq) {
      if (idAt(line, seq) !== from.to.id) return { ...from, stale: "log" }
    } else if (hasHeader) {
      const entry = await withValue(storage, parseEntry(line, seq), o)
      projectFields(next, entry, seq)
      if (entry !== undefined) prompts.add(entry)
    } else {
      // As when a session is opened: lines before the header that are not records, or a title, are skipped.
      const { record } = parseLine(line)
      hasHeader = record !== undefined && !isTitleSlot(record)
      if (hasHeader) Object.assign(next, startProjection(record as LogRecord, head.log))
      if (!hasHeader || seq > 0) next.to = { seq, id: "" }
    }
  }
  // Only the first prompts are needed, and which ones these are is known at the end.
  await prompts.readTexts((entry) => restored(storage, entry, o))
  return withPrompts(next, prompts)
}

/** With the tips of the log, which is read from its start. */
async function withTipsOfLog(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  projection: InfoProjection,
  o: CallOptions,
): Promise<InfoProjection> {
  const log = new EntryLog()
  let settled = 0
  for await (const { seq, line } of linesOf(storage, id, 0, head, o)) {
    if (seq === 0) settled = settledLines((parseLine(line).record ?? {}) as Pick<Header, "origin">)
    const entry = parseEntry(line, seq)
    log.push(entry === undefined ? undefined : stubOf(entry))
  }
  return withTips(projection, tipsOfLog(log, settled), settled)
}

/** What the tips follow from, without the content of the entry: a stub of every entry fits in memory. */
export function stubOf({ type, id, parentId, seq, timestamp, fromId, settles }: Entry): Entry {
  const stub = { type, id, parentId, seq, timestamp } as Entry
  return isLeaving(stub) ? ({ ...stub, fromId, settles } as Entry) : stub
}

/** With the blobs of a title or a metadata value. The projection needs no others but those of the first prompts. */
async function withValue(
  storage: SessionStorage,
  entry: Entry | undefined,
  o: CallOptions,
): Promise<Entry | undefined> {
  const isNeeded = entry?.blobs !== undefined && isStamped(entry.type)
  return isNeeded ? restored(storage, entry, o) : entry
}

/** With its blobs in place, and a sentence in place of each that is missing. */
async function restored(storage: SessionStorage, entry: Entry, o: CallOptions): Promise<Entry> {
  const { entries } = await restoreEntries(storage, [entry], o)
  const { blobs: _, ...whole } = withoutReferences(entries[0] as Entry)
  return whole
}

/** The lines from `from` to the head. `conflict` if the log does not have them any more. */
async function* linesOf(
  storage: SessionStorage,
  id: string,
  from: Seq,
  head: HeadInfo,
  o: CallOptions,
): AsyncIterable<{ readonly seq: Seq; readonly line: string }> {
  let seq = from
  for await (const chunk of storage.read(id, { from, to: head.next }, signalOf(o)))
    for (const line of chunk.lines) yield { seq: seq++, line }
  if (seq === head.next) return
  const message = `The log of ${id} was deleted or replaced while it was read.`
  throw new StorageError("conflict", message, { session: id, storage: storage.description })
}

function idAt(line: string, seq: Seq): string {
  if (seq > 0) return parseEntry(line, seq)?.id ?? ""
  const { id } = (parseLine(line).record ?? {}) as { id?: unknown }
  return typeof id === "string" ? id : ""
}
