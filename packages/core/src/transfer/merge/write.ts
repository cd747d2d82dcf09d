/** Writes what a merge gives one log: checks the lines against the limits of its storage, then appends them with their blobs. */
import type { Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import { SessionError } from "../../format/errors.ts"
import { FULL_SESSION_SLACK_BYTES } from "../../format/limits.ts"
import { hintOf } from "../../format/hints.ts"
import { withFields, withSeq } from "../../format/json-edit.ts"
import { encodeEntry } from "../../format/line.ts"
import { type InfoProjection, ownCopy, projectInPlace, withTips } from "../../info/projection.ts"
import { currentInfo, stubOf } from "../../info/refresh.ts"
import { fitsBesideHead, storeInfo } from "../../info/store.ts"
import { writtenAtOf } from "../../log/search-ids.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import { settledLines } from "../../log/tips.ts"
import { tipsOfLog } from "../../log/tips-of-log.ts"
import type { CallOptions, Head, Seq, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { signalOf } from "../../storage/signals.ts"
import { utf8Length } from "../../storage/utf8.ts"
import { type LineWithBlobs, sendBatch } from "../write/batches.ts"
import { blobCopier } from "../copy/copy.ts"
import type { MergeSide } from "./read.ts"
import { checkMetadata, metadataSize } from "../write/metadata-size.ts"
import { reportLimits } from "../write/within-limits.ts"

/** Bounds the memory of a batch. */
const BATCH_BYTES = 8_000_000

export interface MergeWriteOptions extends CallOptions {
  readonly maxSessionBytes: number
  readonly now: () => number
}

/** A line for the end of the receiving log. */
export interface NewLine extends LineWithBlobs {
  readonly bytes: number
  readonly entry: Entry
  /** The `leaf` entry of the merge. */
  readonly isAdded?: true
}

export interface ToPrepare {
  readonly missing: readonly Entry[]
  readonly leaf: Entry | undefined
  readonly report: Report
}

/** The lines that a side gets. Throws before anything is written if it cannot take them. */
export async function prepare(
  id: string,
  from: MergeSide,
  to: MergeSide,
  { missing, leaf, report }: ToPrepare,
  o: MergeWriteOptions,
): Promise<readonly NewLine[]> {
  const seqs = new Map<string, Seq>()
  const seqOf = (entryId: unknown): Seq | undefined =>
    typeof entryId === "string" ? (seqs.get(entryId) ?? to.log.find(entryId)) : undefined
  const blobsOf = blobCopier(from.storage, to.storage, report, signalOf(o))
  const lines: NewLine[] = []
  const now = o.now()
  for await (const { line, seq: source } of linesAt(from, id, missing, o)) {
    const seq = to.head.next + lines.length
    const entry = parseEntry(line, seq) as Entry
    reportLimits(line, seq, report)
    seqs.set(entry.id, seq)
    const moved = atPlace(line, entry, { seq, seqOf, now })
    lines.push({ line: moved, bytes: utf8Length(moved) + 1, entry, ...blobsOf(line, source) })
  }
  if (leaf !== undefined) {
    const targetSeq = seqOf(leaf.parentId)
    const hint = targetSeq === undefined ? {} : { targetSeq }
    const line = encodeEntry({ ...leaf, seq: to.head.next + lines.length, ...hint })
    lines.push({ line, bytes: utf8Length(line) + 1, entry: leaf, isAdded: true })
  }
  checkSizes(id, to, lines, o)
  return lines
}

interface Place {
  readonly seq: Seq
  readonly seqOf: (id: unknown) => Seq | undefined
  readonly now: number
}

/** The line with the fields of its place in the receiving log: its seq, its hint, and when it is written. */
function atPlace(line: string, entry: Entry, { seq, seqOf, now }: Place): string {
  const moved = withSeq(line, seq) ?? withFields(line, { seq })
  const hint = hintOf(entry)
  const writtenAt = writtenAtOf(entry, now)
  const changed = {
    ...(entry.writtenAt === writtenAt ? {} : { writtenAt }),
    ...(hint === undefined || entry[hint.field] === undefined ? {} : { [hint.field]: seqOf(hint.targetId) }),
  }
  return withFields(moved, changed)
}

async function* linesAt(
  { storage, head }: MergeSide,
  id: string,
  wanted: readonly Entry[],
  o: MergeWriteOptions,
): AsyncGenerator<{ readonly line: string; readonly seq: Seq }, void, undefined> {
  const [first] = wanted
  if (first === undefined) return
  const seqs = new Set(wanted.map(({ seq }) => seq))
  const range = { from: first.seq, to: (wanted.at(-1) as Entry).seq + 1, log: head.log }
  for await (const chunk of storage.read(id, range, signalOf(o))) {
    for (const [index, line] of chunk.lines.entries())
      if (seqs.has(chunk.from + index)) yield { line, seq: chunk.from + index }
  }
}

function checkSizes(id: string, { storage, head }: MergeSide, lines: readonly NewLine[], o: MergeWriteOptions): void {
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

export interface WrittenSide {
  /** The end of the log; undefined if another writer has appended meanwhile. */
  readonly head: Head | undefined
  /** How many entries were written, without the `leaf` of the merge. */
  readonly entries: number
}

/** Writes the lines, and adds their entries to the log of the side. */
export async function write(
  id: string,
  side: MergeSide,
  lines: readonly NewLine[],
  report: Report,
  o: MergeWriteOptions,
): Promise<WrittenSide> {
  const { storage, log, header } = side
  const settled = settledLines(header)
  let head: Head = { next: side.head.next, log: side.head.log }
  let projection = lines.length === 0 ? undefined : ownCopy(await currentInfo(storage, id, side.head, signalOf(o)))
  let entries = 0
  let most = Math.min(BATCH_BYTES, storage.capabilities.maxBatchBytes)
  const onTooLarge = (bytes: number): void => void (most = Math.min(most, bytes / 2))
  for (const batch of batchesOf(lines, () => most)) {
    if (o.signal?.aborted === true) throw abortedError(id, storage, o.signal.reason)
    for (const { entry } of batch) {
      projectInPlace(projection as InfoProjection, entry, log.end)
      log.push(stubOf(entry))
    }
    projection = withTips(projection as InfoProjection, tipsOfLog(log, settled), settled)
    const written = await sendBatch(storage, id, batch, head, projection, { ...o, onTooLarge })
    if (written.kind === "conflict") return { head: undefined, entries }
    if (written.kind !== "committed") throw written.error
    head = written.head
    entries += batch.filter(({ isAdded }) => isAdded !== true).length
  }
  if (projection !== undefined && !fitsBesideHead(projection)) await storeInfo(storage, id, projection)
  if (projection !== undefined) checkMetadata(metadataSize(projection.metadata), report)
  return { head, entries }
}

/** Lines of other batches refer to each other backwards only, so a log that ends in any of them is whole. `most`: the bytes of the next one. */
function* batchesOf(lines: readonly NewLine[], most: () => number): Generator<NewLine[], void, undefined> {
  let batch: NewLine[] = []
  let bytes = 0
  for (const line of lines) {
    if (batch.length > 0 && bytes + line.bytes > most()) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(line)
    bytes += line.bytes
  }
  if (batch.length > 0) yield batch
}

function abortedError(id: string, { description }: SessionStorage, cause: unknown): StorageError {
  const message = `Merging ${id} was aborted. What was written is whole; repeat the call to write the rest.`
  return new StorageError("aborted", message, { session: id, storage: description, cause })
}
