/** Cuts a log into batches of lines that are appended at once, each with the session information up to its end. */
import type { Report } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import { parseLine } from "../format/line.ts"
import { type InfoProjection, projectInPlace, startProjection } from "../info/projection.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { utf8Length } from "../storage/utf8.ts"
import type { Seq } from "../storage/contract.ts"
import { asLines, type LogToWrite } from "./log-to-write.ts"

export interface Batch {
  /** Seq of the first line. */
  readonly from: Seq
  /** Their entries are not held: parsed, they take several times as much memory. */
  readonly lines: readonly string[]
  readonly puts: readonly PutAt[]
  /** Bytes of the log up to the end of the last line. */
  readonly total: number
  /** Session information of the log up to the last line, without the identity of the log; undefined if none is wanted. */
  readonly projection: InfoProjection | undefined
}

/** What stores the blobs of a line. */
interface PutAt {
  readonly at: Seq
  readonly put: () => Promise<void>
}

/** Collects the lines of one batch after the other. */
export class BatchBuilder {
  #from = 0
  #lines: string[] = []
  #puts: PutAt[] = []

  /** Seq of the next line. */
  get next(): Seq {
    return this.#from + this.#lines.length
  }

  add(line: string, put: (() => Promise<void>) | undefined): void {
    if (put !== undefined) this.#puts.push({ at: this.next, put })
    this.#lines.push(line)
  }

  take(total: number, projection: InfoProjection | undefined): Batch {
    const batch = { from: this.#from, lines: this.#lines, puts: this.#puts, total, projection }
    this.#from = this.next
    this.#lines = []
    this.#puts = []
    return batch
  }
}

/** What was counted of a log, and what is made of it. */
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
  batch.add(header, log.putBlobs)
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
      batch.add(line, putBlobs)
      total += bytes + 1
      projector?.add(entry ?? parseEntry(line, seq), seq)
    }
    if (hasGrown) break
  }
  if (batch.next !== lines) throw changed(`${batch.next}`)
  yield batch.take(total, projector?.projection())
}

/** Session information of the lines so far. */
export class Projector {
  #projection: Parameters<typeof projectInPlace>[0]

  constructor(header: string) {
    this.#projection = { ...begun(header) }
  }

  add(entry: Entry | undefined, seq: Seq): void {
    this.#projection = projectInPlace(this.#projection, entry, seq)
  }

  /** A copy. */
  projection(): InfoProjection {
    return { ...this.#projection }
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
