/**
 * The lines of a log that is read once: in memory or, of a log that is longer than a batch, where its importer puts them. Their session
 * information is computed from the entries that were read, so that the lines need not be parsed again when they are written.
 */
import type { Diagnostic, Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import type { InfoProjection } from "../../info/projection.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import type { Importer, LineHold } from "../types.ts"
import type { Seq } from "../../storage/contract.ts"
import { utf8Length } from "../../storage/utf8.ts"
import {
  type Batch,
  BatchBuilder,
  type BatchLine,
  type Counted,
  lineToSend,
  Projector,
  lineOf,
  withNumbersOf,
} from "./batches.ts"
import type { LineToWrite, LogToWrite } from "./log-to-write.ts"

/** The end of a batch. */
interface Step {
  /** Seq of the line after it. */
  readonly to: Seq
  readonly total: number
  readonly projection: InfoProjection
}

export class BufferedLines {
  readonly #header: LogToWrite["putBlobs"]
  readonly #stepBytes: number
  readonly #projector: Projector
  readonly #headerBytes: number
  readonly #diagnostics: Diagnostic[] = []
  readonly #steps: Step[] = []
  #lines: BatchLine[] = []
  #hold: LineHold | undefined
  #hasBlobs = false
  #seq: Seq = 0
  /** The entry of line `#seq`. It is projected when the next line is there, since the last line of a log may settle its branches. */
  #last: Entry | undefined
  #total: number
  #start = 0

  /** `stepBytes`: the size of a batch, if the log is written in several. */
  constructor(log: LogToWrite, stepBytes: number) {
    // Until the lines are counted, with as many digits as their number can have.
    const header = log.header(Number.MAX_SAFE_INTEGER)
    this.#header = log.putBlobs
    this.#stepBytes = stepBytes
    this.#projector = new Projector(header)
    this.#headerBytes = utf8Length(header) + 1
    this.#total = this.#headerBytes
  }

  readonly report: Report = (diagnostic) => void this.#diagnostics.push(diagnostic)

  /** `bytes`: UTF-8 length without the LF. */
  add({ line, entry, putBlobs }: LineToWrite, bytes: number): void {
    this.#projectLast()
    this.#seq++
    if (this.#total - this.#start + bytes + 1 > this.#stepBytes) this.#step()
    this.#total += bytes + 1
    this.#last = entry ?? parseEntry(line, this.#seq)
    if (putBlobs !== undefined) this.#hasBlobs = true
    this.#lines.push(lineToSend(line, putBlobs))
  }

  /** Puts the lines there. False if that cannot be: lines from the first one with blobs on stay in memory, as these do. */
  spill(hold: Importer["hold"]): boolean {
    if (this.#hasBlobs) return false
    this.#hold ??= hold?.()
    if (this.#hold === undefined) return false
    for (const line of this.#lines) this.#hold.push(lineOf(line))
    this.#lines = []
    return true
  }

  /** Called once, when all lines are there. `single`: one batch of everything. Throws `changed` if other lines came back. */
  async *batches(
    { header, lines: count, changed }: Counted,
    single: boolean,
    report: Report,
  ): AsyncGenerator<Batch, void, undefined> {
    for (const diagnostic of this.#diagnostics) report(diagnostic)
    this.#projector.setHeader(header)
    this.#projectLast()
    const given = withNumbersOf(header)
    const excess = this.#headerBytes - utf8Length(header) - 1
    const inner = single ? [] : this.#steps
    const batch = new BatchBuilder()
    batch.add(lineToSend(header, this.#header))
    let step = 0
    for await (const lines of this.#groups()) {
      for (const line of lines) {
        const end = inner[step]
        if (batch.next === end?.to) {
          yield batch.take(end.total - excess, given(end.projection))
          step++
        }
        batch.add(line)
      }
    }
    if (batch.next !== count) throw changed(`${batch.next}`)
    yield batch.take(this.#total - excess, this.#projector.projection())
  }

  async *#groups(): AsyncGenerator<readonly BatchLine[], void, undefined> {
    if (this.#hold !== undefined) yield* this.#hold.lines()
    yield this.#lines
  }

  #projectLast(): void {
    if (this.#seq > 0) this.#projector.add(this.#last, this.#seq)
  }

  #step(): void {
    this.#steps.push({ to: this.#seq, total: this.#total, projection: this.#projector.projection() })
    this.#start = this.#total
  }
}
