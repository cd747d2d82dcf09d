/** The lines of a log that is being written, each with its place and the session information up to it. */
import type { Diagnostic } from "../format/diagnostics.ts"
import { parseLine } from "../format/line.ts"
import { utf8Length } from "../storage/checks.ts"
import type { Seq } from "../storage/contract.ts"
import { projectEntry, startProjection } from "../info/projection.ts"
import type { InfoProjection } from "../info/projection.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { LogToWrite } from "./log-to-write.ts"

export interface PlacedLine {
  readonly seq: Seq
  readonly line: string
  /** UTF-8 length with the LF. */
  readonly bytes: number
  /** Bytes of the log up to the end of this line. */
  readonly total: number
  readonly before?: (() => Promise<void>) | undefined
  /** Of the log up to this line; without the log's identity, which only its storage gives. */
  readonly projection: InfoProjection | undefined
}

/** From the header on, `count` lines at most: a file that grows while it is read has been counted as it was. */
export async function* placedLines(
  log: LogToWrite,
  header: string,
  count: number,
  o: { readonly info?: boolean; readonly note?: (diagnostic: Diagnostic) => void },
): AsyncGenerator<PlacedLine, void, undefined> {
  let projection = o.info === false ? undefined : startProjection(parseLine(header).record ?? {}, "")
  let total = utf8Length(header) + 1
  yield { seq: 0, line: header, bytes: total, total, before: log.before, projection }
  let seq = 0
  for await (const { line, bytes: known, entry, before } of log.lines(o.note ?? ignore)) {
    if (seq === count - 1) return
    seq++
    const bytes = (known ?? utf8Length(line)) + 1
    total += bytes
    if (projection !== undefined) projection = projectEntry(projection, entry ?? parseEntry(line, seq, ignore), seq)
    yield { seq, line, bytes, total, before, projection }
  }
}

function ignore(): void {
  // What is damaged is told of by whoever makes the lines; information takes what it can read.
}
