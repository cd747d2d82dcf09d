/**
 * Writes a whole log into a storage. What fits one batch is created in one append, which is whole in every storage; a longer log
 * goes in several, its header says how many lines there must be, and the same call again goes on where one was cut off.
 */
import { SessionError } from "../format/errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { FULL_SESSION_SLACK_BYTES } from "../format/limits.ts"
import { utf8Length } from "../storage/checks.ts"
import type { CallOptions, Head, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { infoText, storeInfo } from "../info/store.ts"
import { writeLines } from "../write/writer.ts"
import { passStored } from "./stored-lines.ts"
import { placedLines } from "./placed-lines.ts"
import type { LogToWrite } from "./log-to-write.ts"
import type { PlacedLine } from "./placed-lines.ts"

export interface WriteOptions extends CallOptions {
  /** Largest log. Default: the storage's limit. A session that was full may be a little over it. */
  readonly maxSessionBytes?: number
  /** Largest log that is created in one append, below what the storage takes. Default about 8 MB. */
  readonly wholeBytes?: number
  /** Whether a log that is there already and is the same is a success. Default false: `exists`. */
  readonly update?: boolean
  /** Whether a header with another timestamp is the same header: where it is the time of the call. Default false. */
  readonly anyTime?: boolean
  /** Whether session information is sent along. Default true; false for logs that are not in this version's format. */
  readonly info?: boolean
  readonly note?: (diagnostic: Diagnostic) => void
  readonly onProgress?: ((progress: { readonly lines: number; readonly bytes: number }) => void) | undefined
}

export interface WrittenLog {
  readonly head: Head
  /** Line 0. */
  readonly header: string
  /** Lines of the log, header included. */
  readonly lines: number
}

/**
 * A storage keeps a batch in memory, and over a slow line a larger one would take minutes of an abort that nobody hears; many
 * times larger than what adapters write at once, so that batches cost next to nothing.
 */
const BATCH_BYTES = 8_000_000

/**
 * Resolves when every line is acknowledged. `too_large` before anything is written, for a line or for the whole; `exists` where
 * another session has the id; `conflict` where somebody else writes to it, or where the lines changed between the two readings.
 * After any other error, and after an abort, what was written stays as an incomplete session that the same call completes.
 */
export async function writeLog(storage: SessionStorage, log: LogToWrite, o: WriteOptions = {}): Promise<WrittenLog> {
  const most = Math.min(BATCH_BYTES, storage.capabilities.maxBatchBytes)
  const size = await measure(storage, log, o)
  const whole = size.bytes <= Math.min(o.wholeBytes ?? most, storage.capabilities.maxBatchBytes)
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  const header = log.header(whole ? undefined : size.lines)
  const lines = placedLines(log, header, size.lines, o)
  try {
    const stored = await storage.head(log.id, signal)
    const from = stored === undefined ? undefined : await passStored(storage, log.id, stored, lines, size.lines, o)
    const head = stored === undefined ? undefined : { next: stored.next, log: stored.log }
    const rest = { lines, count: size.lines, most: whole ? size.bytes : most, head, from }
    return { ...(await writeRest(storage, log.id, rest, o)), header }
  } finally {
    await lines.return(undefined)
  }
}

interface Rest {
  /** From the first line on that is not stored. */
  readonly lines: AsyncIterator<PlacedLine>
  readonly count: number
  /** Largest batch. */
  readonly most: number
  /** The stored log's end. */
  readonly head: Head | undefined
  /** The last line that is stored. */
  readonly from: PlacedLine | undefined
}

async function writeRest(
  storage: SessionStorage,
  id: string,
  rest: Rest,
  o: WriteOptions,
): Promise<Omit<WrittenLog, "header">> {
  let { head, from: last } = rest
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  for (let next = await rest.lines.next(); next.done !== true; ) {
    checkAborted(o.signal, id, head)
    const batch: PlacedLine[] = []
    const puts: Promise<void>[] = []
    for (let bytes = 0; next.done !== true; next = await rest.lines.next()) {
      bytes += next.value.bytes
      if (batch.length > 0 && bytes > rest.most) break
      batch.push(next.value)
      await putSome(puts, next.value)
    }
    await Promise.all(puts)
    const from = head
    last = batch.at(-1) as PlacedLine
    // Before the batch is sent: a log that is created whole says nowhere how many lines it should have.
    if (next.done === true && last.seq + 1 < rest.count) throw changed(storage, id, last.seq + 1, rest.count)
    const projection = last.projection === undefined ? undefined : { ...last.projection, log: from?.log ?? "" }
    const info = projection === undefined ? undefined : infoText(projection)
    const lines = batch.map(({ line }) => line)
    const written = await writeLines(storage, id, lines, { ...signal, expect: from ?? 0, info })
    if (written.kind === "conflict") throw otherWriter(storage, id, from === undefined, undefined)
    if (written.kind !== "committed") throw written.error
    head = written.head
    o.onProgress?.({ lines: last.seq + 1, bytes: last.total })
  }
  if (head === undefined || last === undefined) throw changed(storage, id, 0, rest.count)
  const projection = last.projection === undefined ? undefined : { ...last.projection, log: head.log }
  if (projection !== undefined && infoText(projection) === undefined) await storeInfo(storage, id, projection)
  return { head, lines: last.seq + 1 }
}

function changed(storage: SessionStorage, id: string, now: number, before: number): SessionError {
  const message = `The source of ${id} has ${now} lines now and had ${before} before: it changed while it was read. Run the same again when it stands still.`
  return new SessionError("conflict", message, { session: id, storage: storage.description })
}

const PUTS_AT_ONCE = 8

/** A few at a time: each may hold megabytes, and each may cost a round trip. */
async function putSome(puts: Promise<void>[], { before }: PlacedLine): Promise<void> {
  if (before === undefined) return
  const put = before()
  // Waited for below; until then a rejection is nobody's.
  put.catch(() => undefined)
  puts.push(put)
  if (puts.length >= PUTS_AT_ONCE) await Promise.all(puts.splice(0))
}

/** The size of the log, in a first reading. Refuses what cannot be written. */
async function measure(
  storage: SessionStorage,
  log: LogToWrite,
  o: WriteOptions,
): Promise<{ lines: number; bytes: number }> {
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
  for await (const { line, bytes: known } of log.lines()) {
    checkAborted(o.signal, log.id, undefined)
    count(known ?? utf8Length(line))
  }
  if (bytes <= limit + FULL_SESSION_SLACK_BYTES) return { lines, bytes }
  const message = `The log has ${bytes} bytes; a session in ${storage.description} may have ${limit}. Nothing was written. Raise maxSessionBytes.`
  throw new SessionError("too_large", message, about)
}

function checkAborted(signal: AbortSignal | undefined, id: string, written: Head | undefined): void {
  if (signal?.aborted !== true) return
  const so =
    written === undefined
      ? "Nothing of it is stored."
      : `${written.next} lines are stored; the same call again goes on there.`
  throw new StorageError("aborted", `The writing of ${id} was aborted. ${so}`, { session: id, cause: signal.reason })
}

/** Another writer's lines where these belong: while the log is being created, another session; else one that is being written to. */
function otherWriter(storage: SessionStorage, id: string, creating: boolean, cause: unknown): SessionError {
  const about = { session: id, storage: storage.description, cause }
  if (creating) {
    const message = `There is another session ${id} in ${storage.description} already; it was left as it is. Choose another id.`
    return new SessionError("exists", message, about)
  }
  const message = `Somebody else writes to ${id} in ${storage.description}, which is not complete yet. Delete it, and run the same again.`
  return new SessionError("conflict", message, about)
}
