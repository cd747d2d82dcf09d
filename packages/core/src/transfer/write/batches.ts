/** Cuts a log into batches of lines that are appended at once, each with the session information up to its end; sends a batch. */
import type { Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import { hasCode } from "../../format/errors.ts"
import { parseLine } from "../../format/line.ts"
import { type InfoProjection, ownCopy, projectInPlace, startProjection } from "../../info/projection.ts"
import { infoText } from "../../info/store.ts"
import { atOnce } from "../../log/blobs.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import { signalOf } from "../../storage/signals.ts"
import { utf8Length } from "../../storage/utf8.ts"
import type { CallOptions, Head, Seq, SessionStorage } from "../../storage/contract.ts"
import { sendWithBlobs } from "../../write/fresh-blobs.ts"
import { writeLines, type Written } from "../../write/writer.ts"
import { asLines, type LineToWrite, type LogToWrite } from "./log-to-write.ts"

/**
 * A line as it is sent, or that with what stores its blobs. Its entry is not held: parsed, it takes several times as much memory. Nor is an
 * object made for each line: many of them stay for a while, so V8 would make all later ones in the old generation, where each keeps its line.
 */
export type BatchLine = string | LineWithBlobs

export type LineWithBlobs = Pick<LineToWrite, "line" | "putBlobs">

export interface Batch {
  /** Seq of the first line. */
  readonly from: Seq
  readonly lines: readonly BatchLine[]
  /** Bytes of the log up to the end of the last line. */
  readonly total: number
  /** Session information of the log up to the last line, without the identity of the log; undefined if none is wanted. */
  readonly projection: InfoProjection | undefined
}

/** Collects the lines of one batch after the other. */
export class BatchBuilder {
  #from = 0
  #lines: BatchLine[] = []

  /** Seq of the next line. */
  get next(): Seq {
    return this.#from + this.#lines.length
  }

  add(line: BatchLine): void {
    this.#lines.push(line)
  }

  take(total: number, projection: InfoProjection | undefined): Batch {
    const batch = { from: this.#from, lines: this.#lines, total, projection }
    this.#from = this.next
    this.#lines = []
    return batch
  }
}

/** The counts of a log, and the header that is made of them. */
export interface Counted {
  readonly header: string
  /** Header included. */
  readonly lines: number
  /** The error of a log that is another one when it is written. `now`: what it has. */
  readonly changed: (now: string) => Error
}

/** `single`: the log is one batch, or is not written; else each batch has at most `maxBytes`, but at least one line. */
export interface BatchSize {
  readonly single: boolean
  readonly maxBytes: number
}

/**
 * Reads the lines and yields them in batches. Throws `changed` for fewer lines than were counted before it yields the last batch, and for a
 * single batch that has become too large: its header holds no expected number of lines, so a part of it would count as a whole log.
 */
export async function* batchesOf(
  log: LogToWrite,
  { header, lines, changed }: Counted,
  { single, maxBytes }: BatchSize,
  info: boolean,
  report: Report,
): AsyncGenerator<Batch, void, undefined> {
  const projector = info ? new Projector(header) : undefined
  const batch = new BatchBuilder()
  let total = utf8Length(header) + 1
  let start = 0
  batch.add(lineToSend(header, log.putBlobs))
  let hasGrown = false
  for await (const some of log.lines(report)) {
    for (const { line, bytes = utf8Length(line), entry, putBlobs } of asLines(some)) {
      const seq = batch.next
      // A file that grew since it was measured is written as it was.
      hasGrown = seq === lines
      if (hasGrown) break
      if (total - start + bytes + 1 > maxBytes) {
        if (single) throw changed(`more than ${maxBytes} bytes`)
        yield batch.take(total, projector?.projection())
        start = total
      }
      batch.add(lineToSend(line, putBlobs))
      total += bytes + 1
      projector?.add(entry ?? parseEntry(line, seq), seq)
    }
    if (hasGrown) break
  }
  if (batch.next !== lines) throw changed(`${batch.next}`)
  yield batch.take(total, projector?.projection())
}

export function lineToSend(line: string, putBlobs: LineToWrite["putBlobs"]): BatchLine {
  return putBlobs === undefined ? line : { line, putBlobs }
}

export function lineOf(line: BatchLine): string {
  return typeof line === "string" ? line : line.line
}

export interface SendOptions extends CallOptions {
  readonly now?: (() => number) | undefined
  /** The lines are written by one append or not at all. Default false: in parts, if the way to the storage takes no request of their size. */
  readonly whole?: boolean
  /** Called with the bytes of lines that were too large for one request. */
  readonly onTooLarge?: (bytes: number) => void
}

/** Puts the blobs of the lines, then appends them until the outcome is known. */
export async function sendBatch(
  storage: SessionStorage,
  id: string,
  batch: readonly BatchLine[],
  expect: 0 | Head,
  projection: InfoProjection | undefined,
  o: SendOptions,
): Promise<Written> {
  const puts: (() => Promise<void>)[] = []
  for (const line of batch) if (typeof line !== "string" && line.putBlobs !== undefined) puts.push(line.putBlobs)
  const lines = batch.map(lineOf)
  const info = projection && (() => infoText(projection))
  const send = (): Promise<Written> => sendLines(storage, id, lines, expect, info, o)
  if (puts.length === 0) return send()
  return sendWithBlobs(() => atOnce(puts, (put) => put()), send, o.now ?? Date.now)
}

/** The outcome of the last part that was sent: what an earlier one has written stays. Session information comes with the last one. */
async function sendLines(
  storage: SessionStorage,
  id: string,
  lines: readonly string[],
  expect: 0 | Head,
  info: (() => string | undefined) | undefined,
  o: SendOptions,
): Promise<Written> {
  // A call that was aborted may still be writing this batch, and it is the same one.
  const written = await writeLines(storage, id, lines, { ...signalOf(o), expect, info, sameIsOwn: true })
  const isTooLarge = written.kind === "refused" && hasCode(written.error, "too_large")
  if (!isTooLarge || o.whole === true || lines.length === 1) return written
  o.onTooLarge?.(lines.reduce((sum, line) => sum + utf8Length(line) + 1, 0))
  const half = Math.ceil(lines.length / 2)
  const first = await sendLines(storage, id, lines.slice(0, half), expect, undefined, o)
  return first.kind === "committed" ? sendLines(storage, id, lines.slice(half), first.head, info, o) : first
}

/** Session information of the lines so far. */
export class Projector {
  #projection: Parameters<typeof projectInPlace>[0]

  constructor(header: string) {
    this.#projection = { ...begun(header) }
  }

  add(entry: Entry | undefined, seq: Seq): void {
    projectInPlace(this.#projection, entry, seq)
  }

  /** A copy. */
  projection(): InfoProjection {
    return ownCopy(this.#projection)
  }

  /** Goes on as if the log had begun with this header, whose numbers of lines were not known. */
  setHeader(header: string): void {
    this.#projection = { ...withNumbersOf(header)(this.#projection) }
  }
}

/** Gives a projection the numbers of lines of another header. Its last line must be before the one at which these settle branches. */
export function withNumbersOf(header: string): (projection: InfoProjection) => InfoProjection {
  const { lines, settled } = begun(header)
  return (projection) => {
    const { lines: _, settled: open, ...rest } = projection
    return {
      ...rest,
      ...(lines === undefined ? {} : { lines }),
      ...(open === undefined || settled === undefined ? {} : { settled }),
    }
  }
}

/** The storage assigns the identity of the log, so it is not known before the first append. */
function begun(header: string): InfoProjection {
  return startProjection(parseLine(header).record ?? {}, "")
}
