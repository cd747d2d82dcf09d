/**
 * Writes a complete log into a storage: for import, fork and copy. A log that fits one batch is created by one append, which is
 * atomic in every storage. A longer log is written in several batches; its header then holds the expected number of lines, and
 * repeating the call continues after the last stored line.
 */
import type { Report } from "../../format/diagnostics.ts"
import { hasCode, SessionError } from "../../format/errors.ts"
import { FULL_SESSION_SLACK_BYTES } from "../../format/limits.ts"
import type { Header } from "../../format/header.ts"
import { isSameCreation } from "../../format/identify.ts"
import { parseLine } from "../../format/line.ts"
import type { InfoProjection } from "../../info/projection.ts"
import { currentInfo } from "../../info/refresh.ts"
import { fitsBesideHead, storeInfo } from "../../info/store.ts"
import type { CopyOptions, Importer } from "../types.ts"
import { signalOf } from "../../storage/signals.ts"
import { utf8Length } from "../../storage/utf8.ts"
import type { CallOptions, Chunk, Head, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { type Batch, batchesOf, lineOf, lineToSend, sendBatch, type SendOptions } from "./batches.ts"
import { BufferedLines } from "./buffered-lines.ts"
import { asLines, type LogToWrite } from "./log-to-write.ts"

export interface WriteLogOptions extends CallOptions {
  /** Largest log in bytes. Default: the storage's limit. {@link FULL_SESSION_SLACK_BYTES} more are accepted, for a full session. */
  readonly maxSessionBytes?: number
  /** Accepts a stored log that has all the lines already. Default false: `exists`. */
  readonly acceptComplete?: boolean
  /** Accepts a stored header of another creation, for headers that each call makes. Default false. */
  readonly anyCreation?: boolean
  /**
   * A log in another format: it gets no session information, and is created by one append if the storage can, since its header cannot hold
   * the expected number of lines. Default false.
   */
  readonly foreign?: boolean
  readonly report?: Report
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: (() => number) | undefined
  readonly onProgress?: CopyOptions["onProgress"] | undefined
  readonly hold?: Importer["hold"] | undefined
}

export interface WrittenLog {
  /** Line 0. */
  readonly header: string
  /** Lines of the log, header included. */
  readonly lines: number
}

/** The largest log of this format that is created by one append. */
const BATCH_BYTES = 8_000_000
/**
 * A batch of a larger log, and the largest log that is in memory if it can be elsewhere. Texts of this size outlive their collection of
 * young objects; with twice as much, V8 makes the space for young objects twice as large. It also bounds the time until an abort takes
 * effect, and is large enough that the number of appends costs little.
 */
const STEP_BYTES = 500_000

/**
 * Resolves when every line is acknowledged. Errors: `too_large` for a line or the log, before anything is written; `exists` if
 * another session has the id; `conflict` if another writer appends to the session, or if the lines changed between the two
 * readings. After any other error or an abort, the stored lines remain as an incomplete session; the same call completes it.
 */
export async function writeLog(storage: SessionStorage, log: LogToWrite, o: WriteLogOptions = {}): Promise<WrittenLog> {
  const { id } = log
  const batchBytes = Math.min(BATCH_BYTES, storage.capabilities.maxBatchBytes)
  const stepBytes = Math.min(STEP_BYTES, batchBytes)
  const size = await measure(storage, log, batchBytes, stepBytes, o)
  const singleBytes = o.foreign === true ? storage.capabilities.maxBatchBytes : batchBytes
  const single = size.bytes <= singleBytes
  let header = log.header(single ? undefined : size.lines)
  const counted = {
    header,
    lines: size.lines,
    changed: (now: string) => changedSourceError(storage, id, size.lines, now),
  }
  const report = o.report ?? ignore
  const batches =
    size.buffered?.batches(counted, single, report) ??
    batchesOf(log, counted, { single, maxBytes: single ? singleBytes : stepBytes }, o.foreign !== true, report)
  const there = await storedLines(storage, id, size.lines, o)
  let head: Head | undefined = there?.head
  let projection: InfoProjection | undefined
  try {
    for await (const whole of batches) {
      projection = whole.projection
      const batch = there === undefined ? whole : await withoutStored(storage, id, whole, there, o)
      if (batch === undefined) continue
      checkAborted(o.signal, id, head)
      try {
        head = await writeBatch(storage, id, head, batch, { ...o, whole: single && head === undefined })
      } catch (error) {
        if (!single || head !== undefined || !hasCode(error, "too_large")) throw error
        // In parts, so the header says how many lines there are. Readers compute the information, which has other numbers now.
        header = log.header(size.lines)
        projection = undefined
        head = await writeBatch(storage, id, head, { ...withHeader(batch, header), projection }, o)
      }
      o.onProgress?.({ lines: head.next, bytes: batch.total })
    }
    const info = projectionIn(projection, head)
    if (info?.stale === true && !single) await projectAnew(storage, id, o)
    else if (info !== undefined && !fitsBesideHead(info)) await storeInfo(storage, id, info)
    return { header, lines: size.lines }
  } finally {
    await there?.lines.return(undefined)
  }
}

/**
 * Stores the information of a log whose lines do not give it one by one, as that of branches: else the first list would read the whole log,
 * and be slow long after what made it so. If that fails, the list does it.
 */
async function projectAnew(storage: SessionStorage, id: string, o: CallOptions): Promise<void> {
  try {
    const head = await storage.head(id, signalOf(o))
    if (head !== undefined) await currentInfo(storage, id, head, { ...signalOf(o), tips: true })
  } catch {
    // The log is complete.
  }
}

interface Measured {
  readonly lines: number
  readonly bytes: number
  /** The log, if it is not read again. */
  readonly buffered?: BufferedLines | undefined
}

/** The size of the log, by a first reading. Refuses what the storage cannot hold. `bufferBytes`: the largest log that is buffered in memory. */
async function measure(
  storage: SessionStorage,
  log: LogToWrite,
  bufferBytes: number,
  stepBytes: number,
  o: WriteLogOptions,
): Promise<Measured> {
  const { maxLineBytes, maxSessionBytes } = storage.capabilities
  const limit = Math.min(o.maxSessionBytes ?? maxSessionBytes, maxSessionBytes)
  const about = { session: log.id, storage: storage.description }
  let lines = 0
  let bytes = 0
  const count = (size: number): void => {
    if (size > maxLineBytes) {
      const message = `Line ${lines} of the log has ${size} bytes; ${storage.description} takes ${maxLineBytes}. Nothing was written.`
      throw new SessionError("too_large", message, about)
    }
    bytes += size + 1
    lines++
  }
  count(utf8Length(log.header()))
  let buffered = log.readOnce === true ? new BufferedLines(log, stepBytes) : undefined
  for await (const some of log.lines(buffered?.report)) {
    checkAborted(o.signal, log.id, undefined)
    for (const made of asLines(some)) {
      const size = made.bytes ?? utf8Length(made.line)
      count(size)
      buffered?.add(made, size)
    }
    if (bytes > stepBytes && buffered?.spill(o.hold) === false && bytes > bufferBytes) buffered = undefined
  }
  if (bytes <= limit + FULL_SESSION_SLACK_BYTES) return { lines, bytes, buffered }
  const of = limit < maxSessionBytes ? "createSessions" : "the storage"
  const message = `The log has ${bytes} bytes; a session in ${storage.description} may have ${limit}. Nothing was written. Raise the option maxSessionBytes of ${of}.`
  throw new SessionError("too_large", message, about)
}

function ignore(): void {
  // The source of the lines reports damaged ones; session information uses the readable ones.
}

/** The lines that are stored already. */
interface StoredLines {
  readonly head: Head
  readonly lines: AsyncGenerator<string, void, undefined>
}

/** `exists` if the log has more lines than these, or all of them without `acceptComplete`. */
async function storedLines(
  storage: SessionStorage,
  id: string,
  count: number,
  o: WriteLogOptions,
): Promise<StoredLines | undefined> {
  const stored = await storage.head(id, signalOf(o))
  if (stored === undefined) return undefined
  const { next, log } = stored
  if (next > count || (next === count && o.acceptComplete !== true)) throw sessionExistsError(storage, id)
  return { head: { next, log }, lines: linesOf(storage.read(id, { from: 0, to: next }, signalOf(o))) }
}

async function* linesOf(chunks: AsyncIterable<Chunk>): AsyncGenerator<string, void, undefined> {
  for await (const { lines } of chunks) yield* lines
}

/**
 * The part of a batch that is not stored yet; undefined if it is stored. Compares the rest with the stored lines: `exists` if these are not
 * the beginning of the log.
 */
async function withoutStored(
  storage: SessionStorage,
  id: string,
  batch: Batch,
  { head: { next }, lines }: StoredLines,
  o: WriteLogOptions,
): Promise<Batch | undefined> {
  const count = Math.min(Math.max(next - batch.from, 0), batch.lines.length)
  for (const [index, ours] of batch.lines.slice(0, count).map(lineOf).entries()) {
    const { done, value } = await lines.next()
    if (done === true) throw otherWriterError(storage, id)
    const isHeader = batch.from + index === 0
    if (ours !== value && !(isHeader && isSameHeader(ours, value, o.anyCreation === true)))
      throw sessionExistsError(storage, id)
  }
  if (count === batch.lines.length) return undefined
  return { ...batch, from: batch.from + count, lines: batch.lines.slice(count) }
}

/** Ignores `origin`: its expected number of lines differs if the source grew between two calls. */
function isSameHeader(ours: string, stored: string, anyCreation: boolean): boolean {
  const one = headerOf(ours)
  const other = headerOf(stored)
  return one.rest === other.rest && (anyCreation || isSameCreation(one.header, other.header))
}

function headerOf(line: string): { readonly header: Header; readonly rest: string } {
  const header = (parseLine(line).record ?? { type: "" }) as Header
  const { origin: _, timestamp: __, creation: ___, ...rest } = header
  return { header, rest: JSON.stringify(rest) }
}

function withHeader({ lines: [first, ...lines], ...batch }: Batch, header: string): Batch {
  return { ...batch, lines: [lineToSend(header, typeof first === "string" ? undefined : first?.putBlobs), ...lines] }
}

async function writeBatch(
  storage: SessionStorage,
  id: string,
  head: Head | undefined,
  { lines, projection }: Batch,
  o: SendOptions,
): Promise<Head> {
  const written = await sendBatch(storage, id, lines, head ?? 0, projectionIn(projection, head), o)
  if (written.kind === "conflict")
    throw head === undefined ? sessionExistsError(storage, id) : otherWriterError(storage, id)
  if (written.kind !== "committed") throw written.error
  return written.head
}

/** With the identity of the log, which the storage assigns: it is empty before the first append. */
function projectionIn(projection: InfoProjection | undefined, head: Head | undefined): InfoProjection | undefined {
  return projection && { ...projection, log: head?.log ?? "" }
}

function checkAborted(signal: AbortSignal | undefined, id: string, written: Head | undefined): void {
  if (signal?.aborted !== true) return
  const state =
    written === undefined
      ? "Nothing was stored."
      : `${written.next} lines are stored; repeat the call to write the remaining lines.`
  throw new StorageError("aborted", `Writing ${id} was aborted. ${state}`, { session: id, cause: signal.reason })
}

function sessionExistsError(storage: SessionStorage, id: string): SessionError {
  const message = `${storage.description} has a session ${id} with other entries; it was not changed. If it is the same session and went on there, merge the two; otherwise choose another id.`
  return new SessionError("exists", message, { session: id, storage: storage.description })
}

function otherWriterError(storage: SessionStorage, id: string): SessionError {
  const message = `Another writer appends to ${id} in ${storage.description}, which is incomplete. Delete the session and repeat the call.`
  return new SessionError("conflict", message, { session: id, storage: storage.description })
}

function changedSourceError(storage: SessionStorage, id: string, counted: number, now: string): SessionError {
  const message = `The source of ${id} changed while it was read: it had ${counted} lines and has ${now} now. Repeat the call when the source no longer changes.`
  return new SessionError("conflict", message, { session: id, storage: storage.description })
}
