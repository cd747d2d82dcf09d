/**
 * Merges a session with its log in another storage: both get the entries that they lack. `merge-plan.ts` decides what is written; this
 * reads both logs, checks everything before the first write, and writes.
 */
import type { BlobLimits } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import { SessionError } from "../format/errors.ts"
import { FULL_SESSION_SLACK_BYTES } from "../format/limits.ts"
import type { Header } from "../format/header.ts"
import { isSameJson } from "../format/json.ts"
import { withFields, withSeq } from "../format/json-edit.ts"
import { encodeEntry, parseLine } from "../format/line.ts"
import { type InfoProjection, projectEntry, withTips } from "../info/projection.ts"
import { currentInfo } from "../info/refresh.ts"
import { fitsBesideHead, infoText, storeInfo } from "../info/store.ts"
import { EntryLog } from "../log/entry-log.ts"
import { atOnce } from "../log/blobs.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { openTips, type OpenTips, settledLines } from "../log/tips.ts"
import { tipsOfLog } from "../log/whole-tips.ts"
import type { MergeResult } from "../session/transfer-types.ts"
import { backoff } from "../storage/clock.ts"
import type { CallOptions, Head, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { signalOf } from "../storage/signals.ts"
import { utf8Length } from "../storage/utf8.ts"
import { sendWithBlobs } from "../write/fresh-blobs.ts"
import { type Written, writeLines } from "../write/writer.ts"
import { blobCopier, copySession } from "./copy.ts"
import { incompleteLog, notFound, readLines } from "../log/loaded-log.ts"
import { readHeader } from "./headers.ts"
import { type MergeEntry, type MergePlan, planMerge, type Side } from "./merge-plan.ts"
import { isUnchanged, type Merged, mergedBefore, storeMerged } from "./merged-doc.ts"
import { migrateStored } from "./migrate.ts"

export interface MergeContext extends CallOptions {
  readonly maxSessionBytes: number
  readonly blobs: BlobLimits
  readonly newId: () => string
  readonly now: () => number
}

/** How often a merge begins anew because another writer has appended. */
const TRIES = 10
/** Bounds the memory of a batch. */
const BATCH_BYTES = 8_000_000

/**
 * Errors: `not_found` if the session is missing here, or was merged with the other storage before and is missing there; `exists` if the
 * other storage has another session under the id; `corrupt` if an id is twice in one log or a parent is missing; `too_large`; `read_only`
 * for a log of an older version that cannot be migrated; `conflict` if other writers keep appending. All but the last are known before
 * anything is written. After an interruption each log has some of the missing entries, each with its parent; the same call completes them.
 */
export async function mergeSessions(
  here: SessionStorage,
  id: string,
  there: SessionStorage,
  o: MergeContext,
): Promise<MergeResult> {
  const signal = signalOf(o)
  await migrateIfOlder(here, id, o)
  const before = await mergedBefore(here, id, there, signal)
  let sent = await copyIfMissing(here, id, there, before !== undefined, o)
  await migrateIfOlder(there, id, o)
  const unchanged = before === undefined ? undefined : await resultOfUnchanged(here, id, there, before, signal)
  if (unchanged !== undefined) return unchanged
  let received = 0
  for (let attempt = 1; ; attempt++) {
    const one = await readSide(here, id, signal)
    const other = await readSide(there, id, signal)
    checkSameSession(id, one, other)
    const differing = await differingIds(id, one, other, signal)
    const plan = planMerge(one.entries, other.entries)
    if ("from" in plan) throw noParent(id, plan.from === "here" ? one : other, plan.entry)
    const leaf = plan.leafAt === undefined ? undefined : leafEntry(plan, o.newId())
    const diagnostics: Diagnostic[] = []
    const toThere = await prepare(id, one, other, { missing: plan.toThere, leaf, diagnostics }, o)
    const toHere = await prepare(id, other, one, { missing: plan.toHere, leaf, diagnostics }, o)
    const atThere = await write(id, other, toThere, o)
    sent += atThere.entries
    const atHere = atThere.head === undefined ? undefined : await write(id, one, toHere, o)
    received += atHere?.entries ?? 0
    if (atThere.head !== undefined && atHere?.head !== undefined) {
      const merged = { here: atHere.head, there: atThere.head, leaf: plan.leaf, differing }
      await storeMerged(here, id, there, merged, signal)
      return { sent, received, leaf: plan.leaf, openTips: atHere.openTips, differing, diagnostics }
    }
    if (attempt === TRIES) throw keepsChanging(id, atThere.head === undefined ? there : here)
    await backoff(attempt)
  }
}

/** If both logs are as the last merge left them, nothing is read but their heads and the session information. */
async function resultOfUnchanged(
  here: SessionStorage,
  id: string,
  there: SessionStorage,
  before: Partial<Merged>,
  o: CallOptions,
): Promise<MergeResult | undefined> {
  const head = await here.head(id, o)
  const other = await there.head(id, o)
  if (head === undefined || other === undefined || !isUnchanged(before, head, other)) return undefined
  const { tips } = await currentInfo(here, id, head, { ...o, tips: true })
  if (tips === undefined) return undefined
  const { leaf, differing } = before
  return { sent: 0, received: 0, leaf, openTips: openTips(tips), differing, diagnostics: [] }
}

/** The number of entries that were copied because the other storage lacked the session, or an earlier copy was interrupted. */
async function copyIfMissing(
  here: SessionStorage,
  id: string,
  there: SessionStorage,
  wasThere: boolean,
  o: MergeContext,
): Promise<number> {
  const signal = signalOf(o)
  const head = await there.head(id, signal)
  if (head === undefined && wasThere) throw deletedThere(id, there)
  if (head !== undefined) {
    const { header } = await readHeader(there, id, signal)
    if (header === undefined || incompleteLog(head, header).length === 0) return 0
  }
  try {
    const { lines } = await copySession(here, id, there, { ...signal, now: o.now })
    return Math.max(0, lines - Math.max(1, head?.next ?? 1))
  } catch (error) {
    // Another writer appended to the interrupted copy: the merge completes it.
    if (head !== undefined && error instanceof SessionError && error.code === "exists") return 0
    throw error
  }
}

async function migrateIfOlder(storage: SessionStorage, id: string, o: MergeContext): Promise<void> {
  const { header } = await readHeader(storage, id, signalOf(o))
  if (header === undefined) await migrateStored(storage, id, { ...signalOf(o), blobs: o.blobs, now: o.now })
}

/** One of the two logs. */
interface MergeSide {
  readonly storage: SessionStorage
  readonly head: HeadInfo
  readonly header: Header
  readonly entries: Side
  /** Without content, to find the tips. */
  readonly log: EntryLog
  /** Of the text of each entry, without what differs between two logs. */
  readonly digests: ReadonlyMap<string, number>
}

async function readSide(storage: SessionStorage, id: string, o: CallOptions): Promise<MergeSide> {
  const { head, header } = await readHeader(storage, id, o)
  if (header === undefined) throw notFound(storage, id)
  const entries = new Map<string, MergeEntry>()
  const digests = new Map<string, number>()
  const log = new EntryLog()
  for await (const chunk of storage.read(id, { from: 0, to: head.next, log: head.log }, o)) {
    for (const [index, line] of chunk.lines.entries()) {
      const seq = chunk.from + index
      const entry = seq === 0 ? undefined : parseEntry(line, seq)
      log.push(entry === undefined ? undefined : stubOf(entry))
      if (entry === undefined) continue
      if (entries.has(entry.id)) throw twice(id, storage, entry)
      const { type, parentId, timestamp } = entry
      entries.set(entry.id, { id: entry.id, type, parentId, timestamp, seq })
      digests.set(entry.id, digestOf(comparable(line, entry)))
    }
  }
  return { storage, head, header, entries, log, digests }
}

/** What the tips follow from. */
function stubOf({ type, id, parentId, seq, timestamp, fromId, settles }: Entry): Entry {
  return { type, id, parentId, seq, timestamp, fromId, settles } as Entry
}

/** The line without the seqs, which differ between two logs. */
function comparable(line: string, { targetSeq, firstKeptSeq }: Entry): string {
  const plain = withSeq(line, 0) ?? withFields(line, { seq: 0 })
  if (targetSeq === undefined && firstKeptSeq === undefined) return plain
  return withFields(plain, { targetSeq: undefined, firstKeptSeq: undefined })
}

/** 53 bits (FNV-1a, twice), so that the texts of a log need not be held. Texts with other digests are compared as JSON. */
function digestOf(text: string): number {
  let low = 0x811c9dc5
  let high = 0xc9dc5118
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    low = Math.imul(low ^ unit, 0x01000193)
    high = Math.imul(high ^ unit, 0x85ebca6b)
  }
  return (high >>> 11) * 2 ** 32 + (low >>> 0)
}

function checkSameSession(id: string, one: MergeSide, other: MergeSide): void {
  const identity = ({ header }: MergeSide): unknown => ({
    id: header.id,
    timestamp: header.timestamp,
    parentSession: header.parentSession ?? null,
  })
  if (isSameJson(identity(one), identity(other))) return
  const { storage } = other
  const message = `${storage.description} has another session under the id ${id}: its header has another id, timestamp or parent session. Nothing was changed.`
  throw new SessionError("exists", message, { session: id, storage: storage.description })
}

/** Ids of the entries that both logs have, with other content. */
async function differingIds(id: string, one: MergeSide, other: MergeSide, o: CallOptions): Promise<readonly string[]> {
  const differing: string[] = []
  for (const [entryId, { seq }] of one.entries) {
    const twin = other.entries.get(entryId)
    if (twin === undefined || one.digests.get(entryId) === other.digests.get(entryId)) continue
    const own = await contentAt(one, id, seq, o)
    if (!isSameJson(own, await contentAt(other, id, twin.seq, o))) differing.push(entryId)
  }
  return differing
}

async function contentAt({ storage, head }: MergeSide, id: string, seq: Seq, o: CallOptions): Promise<unknown> {
  const [line = ""] = await readLines(storage, id, { from: seq, to: seq + 1, log: head.log }, o)
  const { seq: _, targetSeq: __, firstKeptSeq: ___, ...content } = parseLine(line).record ?? { type: "" }
  return content
}

/** The timestamp of the agreed leaf, so that this entry is not newer than what it follows. It settles nothing. */
function leafEntry({ leaf, leafAt }: MergePlan, id: string): Entry {
  return { type: "leaf", id, parentId: leaf, seq: 0, timestamp: leafAt as string, settles: [] }
}

/** A line for the end of the receiving log. */
interface NewLine {
  readonly line: string
  readonly bytes: number
  readonly entry: Entry
  readonly putBlobs?: (() => Promise<void>) | undefined
  /** The `leaf` entry of the merge. */
  readonly isAdded?: true
}

interface ToPrepare {
  readonly missing: readonly MergeEntry[]
  readonly leaf: Entry | undefined
  readonly diagnostics: Diagnostic[]
}

/** The lines that a side gets. Throws before anything is written if it cannot take them. */
async function prepare(
  id: string,
  from: MergeSide,
  to: MergeSide,
  { missing, leaf, diagnostics }: ToPrepare,
  o: MergeContext,
): Promise<readonly NewLine[]> {
  const seqs = new Map<string, Seq>()
  const seqOf = (entryId: unknown): Seq | undefined =>
    seqs.get(entryId as string) ?? to.entries.get(entryId as string)?.seq
  const blobsOf = blobCopier(from.storage, to.storage, (diagnostic) => diagnostics.push(diagnostic), signalOf(o))
  const lines: NewLine[] = []
  for await (const { line, seq: source } of linesAt(from, id, missing, o)) {
    const seq = to.head.next + lines.length
    const entry = parseEntry(line, seq) as Entry
    seqs.set(entry.id, seq)
    const moved = atSeq(line, entry, seq, seqOf)
    lines.push({ line: moved, bytes: utf8Length(moved) + 1, entry, ...blobsOf(line, source) })
  }
  if (leaf !== undefined) {
    const line = encodeEntry({ ...leaf, seq: to.head.next + lines.length, ...hintOf(leaf.parentId, seqOf) })
    lines.push({ line, bytes: utf8Length(line) + 1, entry: leaf, isAdded: true })
  }
  checkSizes(id, to, lines, o)
  return lines
}

function hintOf(parentId: string | null, seqOf: (id: unknown) => Seq | undefined): object {
  const targetSeq = parentId === null ? undefined : seqOf(parentId)
  return targetSeq === undefined ? {} : { targetSeq }
}

/** The line with its seq and its hints in the receiving log. */
function atSeq(line: string, entry: Entry, seq: Seq, seqOf: (id: unknown) => Seq | undefined): string {
  const moved = withSeq(line, seq) ?? withFields(line, { seq })
  const { type, parentId, targetId, targetSeq, firstKeptEntryId, firstKeptSeq } = entry
  const hints: Record<string, unknown> = {}
  if (targetSeq !== undefined) hints["targetSeq"] = seqOf(type === "leaf" ? parentId : targetId)
  if (firstKeptSeq !== undefined) hints["firstKeptSeq"] = seqOf(firstKeptEntryId)
  return Object.keys(hints).length === 0 ? moved : withFields(moved, hints)
}

async function* linesAt(
  { storage, head }: MergeSide,
  id: string,
  wanted: readonly MergeEntry[],
  o: MergeContext,
): AsyncGenerator<{ readonly line: string; readonly seq: Seq }, void, undefined> {
  const [first] = wanted
  if (first === undefined) return
  const seqs = new Set(wanted.map(({ seq }) => seq))
  const range = { from: first.seq, to: (wanted.at(-1) as MergeEntry).seq + 1, log: head.log }
  for await (const chunk of storage.read(id, range, signalOf(o))) {
    for (const [index, line] of chunk.lines.entries())
      if (seqs.has(chunk.from + index)) yield { line, seq: chunk.from + index }
  }
}

function checkSizes(id: string, { storage, head }: MergeSide, lines: readonly NewLine[], o: MergeContext): void {
  const { maxLineBytes, maxSessionBytes } = storage.capabilities
  const about = { session: id, storage: storage.description }
  let bytes = head.bytes
  for (const { bytes: size, entry } of lines) {
    bytes += size
    if (size - 1 <= maxLineBytes) continue
    const message = `The entry ${entry.id} has ${size - 1} bytes; ${storage.description} takes ${maxLineBytes}. Nothing was written.`
    throw new SessionError("too_large", message, about)
  }
  const limit = Math.min(o.maxSessionBytes, maxSessionBytes) + FULL_SESSION_SLACK_BYTES
  if (lines.length === 0 || bytes <= limit) return
  const message = `The merged log has ${bytes} bytes; a session in ${storage.description} may have ${limit}. Nothing was written. Raise maxSessionBytes.`
  throw new SessionError("too_large", message, about)
}

interface WrittenSide {
  /** The end of the log; undefined if another writer has appended meanwhile. */
  readonly head: Head | undefined
  /** How many entries were written, without the `leaf` of the merge. */
  readonly entries: number
  readonly openTips: OpenTips
}

async function write(id: string, side: MergeSide, lines: readonly NewLine[], o: MergeContext): Promise<WrittenSide> {
  const { storage, log, header } = side
  const settled = settledLines(header)
  let head: Head = { next: side.head.next, log: side.head.log }
  let projection = lines.length === 0 ? undefined : await currentInfo(storage, id, side.head, signalOf(o))
  let entries = 0
  for (const batch of batchesOf(lines, Math.min(BATCH_BYTES, storage.capabilities.maxBatchBytes))) {
    if (o.signal?.aborted === true) throw aborted(id, storage, o.signal.reason)
    for (const { entry } of batch) {
      projection = projectEntry(projection as InfoProjection, entry, log.end)
      log.push(stubOf(entry))
    }
    projection = withTips(projection as InfoProjection, tipsOfLog(log, settled), settled)
    const written = await writeBatch(storage, id, head, batch, projection, o)
    if (written.kind === "conflict") return { head: undefined, entries, openTips: NO_TIPS }
    if (written.kind !== "committed") throw written.error
    head = written.head
    entries += batch.filter(({ isAdded }) => isAdded !== true).length
  }
  if (projection !== undefined && !fitsBesideHead(projection)) await storeInfo(storage, id, projection)
  return { head, entries, openTips: openTips(tipsOfLog(log, settled)) }
}

const NO_TIPS: OpenTips = { tips: [] }

/** Lines of other batches refer to each other backwards only, so a log that ends in any of them is whole. */
function batchesOf(lines: readonly NewLine[], most: number): NewLine[][] {
  const batches: NewLine[][] = []
  let bytes = 0
  for (const line of lines) {
    const batch = batches.at(-1)
    if (batch === undefined || bytes + line.bytes > most) {
      batches.push([line])
      bytes = line.bytes
    } else {
      batch.push(line)
      bytes += line.bytes
    }
  }
  return batches
}

async function writeBatch(
  storage: SessionStorage,
  id: string,
  head: Head,
  batch: readonly NewLine[],
  projection: InfoProjection,
  o: MergeContext,
): Promise<Written> {
  const puts = batch.flatMap(({ putBlobs }) => putBlobs ?? [])
  const lines = batch.map(({ line }) => line)
  const write = (): Promise<Written> =>
    // A call that was aborted may still be writing this batch, and it is the same one.
    writeLines(storage, id, lines, { ...signalOf(o), expect: head, info: infoText(projection), sameIsOwn: true })
  if (puts.length === 0) return write()
  return sendWithBlobs(() => atOnce(puts, (put) => put()), write, o.now)
}

function twice(id: string, storage: SessionStorage, entry: Entry): StorageError {
  const message = `The log of ${id} in ${storage.description} has the id ${JSON.stringify(entry.id)} twice, so it cannot be merged. Nothing was written.`
  return new StorageError("corrupt", message, { session: id, storage: storage.description })
}

function noParent(id: string, { storage }: MergeSide, { id: entryId, seq, parentId }: MergeEntry): StorageError {
  const message = `The entry ${entryId} (line ${seq}) of ${id} in ${storage.description} names the parent ${String(parentId)}, which would not be before it in the other log. Nothing was written.`
  return new StorageError("corrupt", message, { session: id, storage: storage.description })
}

function deletedThere(id: string, { description }: SessionStorage): SessionError {
  const message = `The session ${id} was merged with ${description} before, and was deleted there since. Delete it here too, or copy it there again.`
  return new SessionError("not_found", message, { session: id, storage: description })
}

function keepsChanging(id: string, { description }: SessionStorage): SessionError {
  const message = `Other writers appended to ${id} in ${description} during each of ${TRIES} attempts to merge it. What was written is whole; repeat the call.`
  return new SessionError("conflict", message, { session: id, storage: description })
}

function aborted(id: string, { description }: SessionStorage, cause: unknown): StorageError {
  const message = `Merging ${id} was aborted. What was written is whole; repeat the call to write the rest.`
  return new StorageError("aborted", message, { session: id, storage: description, cause })
}
