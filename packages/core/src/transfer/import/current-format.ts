/** Imports a log of this format: its lines stay unchanged, except for what an append would store in another form. */
import type { BlobLimits } from "../../format/blobs.ts"
import type { Report } from "../../format/diagnostics.ts"
import { SessionError } from "../../format/errors.ts"
import { isEntry } from "../../format/entry-problems.ts"
import type { ReadLine } from "../../format/jsonl.ts"
import { type LogRecord, parseLine } from "../../format/line.ts"
import { FORMAT, VERSION } from "../../format/header.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import { withId, withOriginLines } from "../headers.ts"
import { lineWithGivenBlobs, type GivenBlobs } from "./given-blobs.ts"
import { isHeader, type LineSource, textOf } from "./source.ts"
import { toStoredForm, toStoredLine } from "../write/stored-form.ts"
import { blankDiagnostic, unreadableDiagnostic, unreadableEntry, unreadableOf } from "./unreadable.ts"
import type { ImportedLog, LineToWrite } from "../write/log-to-write.ts"

/**
 * The header, which is the line `found`, gets the new id and, if the log is written in several batches, the expected number of lines.
 * Images and long strings inside a line, as in a self-contained export, move to the blob store; the rest of that line stays unchanged.
 */
export function currentLogToWrite(
  storage: SessionStorage,
  source: LineSource,
  found: string,
  id: string,
  limits: BlobLimits,
  given: GivenBlobs,
): ImportedLog {
  const header = lineWithGivenBlobs(withId(found, id), given, 0)
  const { id: sourceId } = parseLine(found).record as LogRecord
  return {
    id,
    header: (lines) =>
      lines === undefined ? header : withOriginLines(header, lines, typeof sourceId === "string" ? sourceId : id),
    lines: (report) => linesOf(storage, source, found, limits, given, report),
    from: { format: FORMAT, version: VERSION },
  }
}

/** A log begins with its header, so lines in front of it move behind it. */
async function* linesOf(
  storage: SessionStorage,
  source: LineSource,
  header: string,
  limits: BlobLimits,
  given: GivenBlobs,
  report: Report | undefined,
): AsyncGenerator<LineToWrite, void, undefined> {
  const { timestamp: headerTime } = parseLine(header).record as LogRecord
  const timestamp = typeof headerTime === "string" ? headerTime : new Date(0).toISOString()
  let seq = 0
  let parentId: string | null = null
  let headerRead = false
  let blanks = 0
  let firstBlankAt = 0
  for await (const read of source()) {
    if (!headerRead && isHeader(read)) {
      if (read.line !== header) throw changedFileError()
      headerRead = true
      lineWithGivenBlobs(header, given, 0, report)
    } else if (isBlank(read, headerRead)) {
      if (blanks++ === 0) firstBlankAt = read.at
    } else {
      seq++
      const unreadable = unreadableOf(read)
      if (unreadable !== undefined) {
        report?.(unreadableDiagnostic(unreadable, seq))
        const entry = unreadableEntry(unreadable, { seq, parentId, timestamp })
        parentId = entry.id
        yield toStoredForm(storage, entry, seq, limits)
      } else {
        const text = textOf(read, seq)
        const line = lineWithGivenBlobs(text, given, seq, report)
        parentId = idOf(line) ?? parentId
        yield (await toStoredLine(storage, line, seq, limits)) ?? {
          line,
          ...(line === text && { bytes: read.bytes }),
          entry: report === undefined ? undefined : parseEntry(line, seq, report),
        }
      }
    }
  }
  if (!headerRead) throw changedFileError()
  if (blanks > 0) report?.(blankDiagnostic(blanks, firstBlankAt))
}

function changedFileError(): SessionError {
  const message = "The file changed while it was read. Import it again when the file no longer changes."
  return new SessionError("conflict", message)
}

/** Storages refuse empty lines. A line of white space is dropped only before the header. */
function isBlank({ line }: ReadLine, headerRead: boolean): boolean {
  return line === "" || line === "\r" || (!headerRead && line?.trim() === "")
}

const OUR_ID = /^\{"type":"[^"\\]*","id":"([^"\\]+)","parentId":/

/** The id of the entry in a line. Most lines have our order of keys and need no parsing. */
function idOf(line: string): string | undefined {
  const { 1: id } = OUR_ID.exec(line) ?? []
  if (id !== undefined) return id
  const { record } = parseLine(line)
  return isEntry(record) ? record.id : undefined
}
