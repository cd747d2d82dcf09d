/**
 * Writes a complete log into a storage: for import, fork and copy. A log that fits one batch is created by one append, which is
 * atomic in every storage. A longer log is written in several batches; its header then holds the expected number of lines, and
 * repeating the call continues after the last stored line.
 */
import type { Diagnostic, Report } from "../format/diagnostics.ts"
import { SessionError } from "../format/errors.ts"
import { FULL_SESSION_SLACK_BYTES } from "../format/limits.ts"
import { parseLine } from "../format/line.ts"
import type { Entry } from "../format/entry.ts"
import { type InfoProjection, projectInPlace, startProjection } from "../info/projection.ts"
import { fitsBesideHead, infoText, storeInfo } from "../info/store.ts"
import { atOnce } from "../log/blobs.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { CopyOptions, Importer, ImportResult, LineHold } from "../session/transfer-types.ts"
import { signalOf } from "../storage/signals.ts"
import { utf8Length } from "../storage/utf8.ts"
import type { CallOptions, Head, HeadInfo, Seq, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { sendWithBlobs } from "../write/fresh-blobs.ts"
import { writeLines, type Written } from "../write/writer.ts"

/** A line after the header. */
export interface LineToWrite {
  readonly line: string
  /** UTF-8 length without the LF. Default: counted. */
  readonly bytes?: number
  /** The entry that session information is computed from. Default: parsed from the line. */
  readonly entry?: Entry | undefined
  /**
   * Stores the blobs that the line refers to. Awaited before the line is sent, and called again if that was long ago; not called for a line
   * that is already stored.
   */
  readonly putBlobs?: () => Promise<void>
}

export interface LogToWrite {
  readonly id: string
  /** Line 0. `lines` is given if the log is written in several batches: the header must then hold this expected number of lines. */
  readonly header: (lines?: number) => string
  /** Stores the blobs that the header refers to, as those of a line. */
  readonly putBlobs?: () => Promise<void>
  /** The lines after the header, the same at each call. Called twice: to measure the log, without `report`, and to write it. */
  readonly lines: (report?: Report) => AsyncIterable<LineToWrite> | Iterable<LineToWrite>
  /** The lines cost much: `lines` is called once if the log fits one batch, or can be held. Both calls get `report` then. Default false. */
  readonly readOnce?: boolean
}

/** A log that was found in a file. */
export interface ImportedLog extends LogToWrite {
  readonly from: ImportResult["from"]
}

export interface WriteLogOptions extends CallOptions {
  /** Largest log in bytes. Default: the storage's limit. {@link FULL_SESSION_SLACK_BYTES} more are accepted, for a full session. */
  readonly maxSessionBytes?: number
  /** Largest log in bytes that is created by one append; never above the storage's `maxBatchBytes`. Default {@link BATCH_BYTES}. */
  readonly singleBatchBytes?: number
  /** Accepts a stored log that has all the lines already. Default false: `exists`. */
  readonly acceptComplete?: boolean
  /** Accepts a stored header with another timestamp, for headers that carry the time of the call. Default false. */
  readonly anyTimestamp?: boolean
  /** Stores session information beside the log. Default true; false for logs in another format. */
  readonly info?: boolean
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

/** The largest log that is created by one append. */
const BATCH_BYTES = 8_000_000
/**
 * A batch of a larger log. Bounds memory, since the texts of a batch outlive its collection of young objects, and the time until an abort
 * takes effect; large enough that the number of appends costs little.
 */
const STEP_BYTES = 1_000_000

/**
 * Resolves when every line is acknowledged. Errors: `too_large` for a line or the log, before anything is written; `exists` if
 * another session has the id; `conflict` if another writer appends to the session, or if the lines changed between the two
 * readings. After any other error or an abort, the stored lines remain as an incomplete session; the same call completes it.
 */
export async function writeLog(storage: SessionStorage, log: LogToWrite, o: WriteLogOptions = {}): Promise<WrittenLog> {
  const { id } = log
  const batchBytes = Math.min(BATCH_BYTES, storage.capabilities.maxBatchBytes)
  const size = await measure(storage, log, batchBytes, o)
  const single = size.bytes <= Math.min(o.singleBatchBytes ?? batchBytes, storage.capabilities.maxBatchBytes)
  const header = log.header(single ? undefined : size.lines)
  const lines = logLines(storage, size.held === undefined ? log : { ...log, lines: size.held }, header, size.lines, o)
  const projector = o.info === false ? undefined : new Projector(header)
  try {
    const stored = await storage.head(id, signalOf(o))
    if (stored !== undefined) await skipStored(storage, id, stored, lines, projector, size.lines, o)
    let head: Head | undefined = stored === undefined ? undefined : { next: stored.next, log: stored.log }
    for await (const batch of batchesOf(lines, single ? size.bytes : Math.min(STEP_BYTES, batchBytes), projector)) {
      checkAborted(o.signal, id, head)
      head = await writeBatch(storage, id, head, batch, projectionAt(projector, head), o)
      o.onProgress?.({ lines: head.next, bytes: batch.total })
    }
    const projection = projectionAt(projector, head)
    if (projection !== undefined && !fitsBesideHead(projection)) await storeInfo(storage, id, projection)
    return { header, lines: size.lines }
  } finally {
    await lines.return(undefined)
  }
}

interface Measured {
  readonly lines: number
  readonly bytes: number
  /** The lines after the header, with their diagnostics: of a log that is read once. */
  readonly held?: LogToWrite["lines"] | undefined
}

/** The size of the log, by a first reading. Refuses what the storage cannot hold. `holdBytes`: the largest log that is held. */
async function measure(
  storage: SessionStorage,
  log: LogToWrite,
  holdBytes: number,
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
  const diagnostics: Diagnostic[] = []
  /** Entries only of lines whose values are in the blob store: to keep so many objects costs more than to parse the other lines again. */
  let held: LineToWrite[] | undefined = log.readOnce === true ? [] : undefined
  let hold: LineHold | undefined
  for await (const made of log.lines(held && ((diagnostic) => diagnostics.push(diagnostic)))) {
    checkAborted(o.signal, log.id, undefined)
    const size = made.bytes ?? utf8Length(made.line)
    count(size)
    held?.push(made.putBlobs === undefined ? { line: made.line, bytes: size } : { ...made, bytes: size })
    if (bytes > holdBytes && held !== undefined) {
      hold ??= o.hold?.()
      // A closure that stores blobs keeps them in memory.
      if (hold === undefined || held.some(({ putBlobs }) => putBlobs)) held = undefined
      else for (const { line } of held.splice(0)) hold.push(line)
    }
  }
  if (bytes <= limit + FULL_SESSION_SLACK_BYTES)
    return { lines, bytes, held: held && heldLines(hold?.lines() ?? held, diagnostics) }
  const of = limit < maxSessionBytes ? "createSessions" : "the storage"
  const message = `The log has ${bytes} bytes; a session in ${storage.description} may have ${limit}. Nothing was written. Raise the option maxSessionBytes of ${of}.`
  throw new SessionError("too_large", message, about)
}

function heldLines(
  lines: AsyncIterable<string> | readonly LineToWrite[],
  diagnostics: readonly Diagnostic[],
): LogToWrite["lines"] {
  return async function* (report) {
    for (const diagnostic of diagnostics) report?.(diagnostic)
    for await (const line of lines) yield typeof line === "string" ? { line } : line
  }
}

/** A line of the log with its position and its sizes. */
interface LogLine {
  readonly seq: Seq
  readonly line: string
  /** UTF-8 length with the LF. */
  readonly bytes: number
  /** Bytes of the log up to the end of this line. */
  readonly total: number
  readonly putBlobs?: (() => Promise<void>) | undefined
  /** The entry that session information is computed from. Default: parsed from the line. Not for the header. */
  readonly entry?: Entry | undefined
}

/**
 * `count` lines from the header on: a file that grew since it was measured is written as it was. Throws `conflict` for fewer, before the
 * last batch is sent: the header of a log in a single batch holds no expected number of lines.
 */
async function* logLines(
  storage: SessionStorage,
  log: LogToWrite,
  header: string,
  count: number,
  o: WriteLogOptions,
): AsyncGenerator<LogLine, void, undefined> {
  let total = utf8Length(header) + 1
  yield { seq: 0, line: header, bytes: total, total, putBlobs: log.putBlobs }
  let seq = 0
  for await (const { line, bytes: known, entry, putBlobs } of log.lines(o.report ?? ignore)) {
    if (seq === count - 1) return
    seq++
    const bytes = (known ?? utf8Length(line)) + 1
    total += bytes
    yield { seq, line, bytes, total, putBlobs, entry }
  }
  if (seq === count - 1) return
  const message = `The source of ${log.id} changed while it was read: it had ${count} lines and has ${seq + 1} now. Repeat the call when the source no longer changes.`
  throw new SessionError("conflict", message, { session: log.id, storage: storage.description })
}

function ignore(): void {
  // The source of the lines reports damaged ones; session information uses the readable ones.
}

/** Session information of the lines so far. */
class Projector {
  #projection: Parameters<typeof projectInPlace>[0]

  constructor(header: string) {
    this.#projection = { ...startProjection(parseLine(header).record ?? {}, "") }
  }

  add(entry: Entry | undefined, seq: Seq): void {
    this.#projection = projectInPlace(this.#projection, entry, seq)
  }

  /** A copy, with the identity of the log. */
  projection(log: string): InfoProjection {
    return { ...this.#projection, log }
  }
}

/** Session information with one more line of the log. The header is the beginning of every projection. */
function project(projector: Projector | undefined, { seq, line, entry }: LogLine): void {
  if (seq > 0) projector?.add(entry ?? parseEntry(line, seq), seq)
}

/**
 * Consumes the lines that are stored already, and compares them. `exists` if the stored lines are not the beginning of these lines, or are
 * all of them without `acceptComplete`.
 */
async function skipStored(
  storage: SessionStorage,
  id: string,
  stored: HeadInfo,
  ours: AsyncIterator<LogLine>,
  projector: Projector | undefined,
  count: number,
  o: WriteLogOptions,
): Promise<void> {
  if (stored.next > count || (stored.next === count && o.acceptComplete !== true)) throw idTaken(storage, id)
  for await (const chunk of storage.read(id, { from: 0, to: stored.next }, signalOf(o))) {
    for (const line of chunk.lines) {
      const next = await ours.next()
      const own = next.done === true ? undefined : next.value
      const isSame = own?.line === line || (own?.seq === 0 && isSameHeader(own.line, line, o.anyTimestamp === true))
      if (own === undefined || !isSame) throw idTaken(storage, id)
      project(projector, own)
    }
  }
}

/** Ignores `origin`: its expected number of lines differs if the source grew between two calls. */
function isSameHeader(ours: string, stored: string, anyTimestamp: boolean): boolean {
  const comparable = (line: string): string => {
    const { origin: _, timestamp, ...rest } = parseLine(line).record ?? { type: "" }
    return JSON.stringify(anyTimestamp ? rest : { ...rest, timestamp })
  }
  return comparable(ours) === comparable(stored)
}

/** Lines that are appended at once. Their entries are not held: parsed, they take several times as much memory. */
interface Batch {
  readonly lines: string[]
  readonly puts: (() => Promise<void>)[]
  /** Bytes of the log up to the end of the last line. */
  total: number
}

/** As many lines as fit `maxBytes`, but at least one. The projector has the lines up to the end of the batch. */
async function* batchesOf(
  lines: AsyncIterable<LogLine>,
  maxBytes: number,
  projector: Projector | undefined,
): AsyncGenerator<Batch, void, undefined> {
  let batch: Batch = { lines: [], puts: [], total: 0 }
  let bytes = 0
  for await (const line of lines) {
    if (batch.lines.length > 0 && bytes + line.bytes > maxBytes) {
      yield batch
      batch = { lines: [], puts: [], total: 0 }
      bytes = 0
    }
    batch.lines.push(line.line)
    if (line.putBlobs !== undefined) batch.puts.push(line.putBlobs)
    batch.total = line.total
    bytes += line.bytes
    project(projector, line)
  }
  if (batch.lines.length > 0) yield batch
}

async function writeBatch(
  storage: SessionStorage,
  id: string,
  head: Head | undefined,
  { lines, puts }: Batch,
  projection: InfoProjection | undefined,
  o: WriteLogOptions,
): Promise<Head> {
  const info = projection === undefined ? undefined : infoText(projection)
  const write = (): Promise<Written> =>
    // A call that was aborted may still be writing this batch, and it is the same one.
    writeLines(storage, id, lines, { ...signalOf(o), expect: head ?? 0, info, sameIsOwn: true })
  const putAll = (): Promise<unknown> => atOnce(puts, (put) => put())
  const written = puts.length === 0 ? await write() : await sendWithBlobs(putAll, write, o.now ?? Date.now)
  if (written.kind === "conflict") throw head === undefined ? idTaken(storage, id) : otherWriter(storage, id)
  if (written.kind !== "committed") throw written.error
  return written.head
}

/** Session information of the log so far. The storage assigns the identity of the log, so it is empty before the first append. */
function projectionAt(projector: Projector | undefined, head: Head | undefined): InfoProjection | undefined {
  return projector?.projection(head?.log ?? "")
}

function checkAborted(signal: AbortSignal | undefined, id: string, written: Head | undefined): void {
  if (signal?.aborted !== true) return
  const state =
    written === undefined
      ? "Nothing was stored."
      : `${written.next} lines are stored; repeat the call to write the remaining lines.`
  throw new StorageError("aborted", `Writing ${id} was aborted. ${state}`, { session: id, cause: signal.reason })
}

function idTaken(storage: SessionStorage, id: string): SessionError {
  const message = `Another session in ${storage.description} has the id ${id}; it was not changed. Choose another id.`
  return new SessionError("exists", message, { session: id, storage: storage.description })
}

function otherWriter(storage: SessionStorage, id: string): SessionError {
  const message = `Another writer appends to ${id} in ${storage.description}, which is incomplete. Delete the session and repeat the call.`
  return new SessionError("conflict", message, { session: id, storage: storage.description })
}
