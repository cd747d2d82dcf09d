/** Imports a log of this format: its lines stay unchanged, except for what an append would store in another form. */
import type { BlobLimits } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { SessionError } from "../format/errors.ts"
import { isEntry } from "../format/entry.ts"
import type { ReadLine } from "../format/jsonl.ts"
import { parseLine } from "../format/line.ts"
import type { LogRecord } from "../format/line.ts"
import { FORMAT, VERSION } from "../format/header.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { Seq, SessionStorage } from "../storage/contract.ts"
import { withId, withOriginLines } from "./headers.ts"
import type { LineSource } from "./source.ts"
import { toStoredForm, toStoredLine } from "./stored-form.ts"
import { blankDiagnostic, unreadableDiagnostic, unreadableEntry, unreadableOf } from "./unreadable.ts"
import type { LineToWrite, LogToWrite } from "./write-log.ts"

/** A log that was found in a file. */
export interface ImportedLog extends LogToWrite {
  readonly from: { readonly format: string; readonly version: number }
  readonly diagnostics: readonly Diagnostic[]
}

/**
 * The header gets the new id and, if the log is written in several batches, the expected number of lines. Images and long strings
 * inside a line, as in a self-contained export, move to the blob store; the rest of that line stays unchanged.
 */
export async function ownLogToWrite(
  storage: SessionStorage,
  source: LineSource,
  id: string,
  limits: BlobLimits,
): Promise<ImportedLog> {
  const line = await headerLine(source)
  const header = withId(line, id)
  const { id: sourceId, timestamp: headerTime } = parseLine(line).record as LogRecord
  const timestamp = typeof headerTime === "string" ? headerTime : new Date(0).toISOString()
  return {
    id,
    header: (lines) =>
      lines === undefined ? header : withOriginLines(header, lines, typeof sourceId === "string" ? sourceId : id),
    lines: (report) => linesOf(storage, source, { timestamp, limits }, report),
    from: { format: FORMAT, version: VERSION },
    diagnostics: [],
  }
}

/** A log begins with its header, so lines in front of it move behind it. */
async function* linesOf(
  storage: SessionStorage,
  source: LineSource,
  { timestamp, limits }: { readonly timestamp: string; readonly limits: BlobLimits },
  report: ((diagnostic: Diagnostic) => void) | undefined,
): AsyncGenerator<LineToWrite, void, undefined> {
  let seq = 0
  let lastId: string | null = null
  let headerRead = false
  let blanks = 0
  let firstBlankAt = 0
  for await (const read of source.lines()) {
    if (!headerRead && isHeader(read)) {
      headerRead = true
    } else if (isBlank(read, headerRead)) {
      if (blanks++ === 0) firstBlankAt = read.at
    } else {
      seq++
      const unreadable = unreadableOf(read)
      if (unreadable !== undefined) {
        report?.(unreadableDiagnostic(unreadable, seq))
        const entry = unreadableEntry(unreadable, { seq, parentId: lastId, timestamp })
        lastId = entry.id
        yield toStoredForm(storage, entry, seq, limits)
      } else {
        const line = textOf(read, seq)
        lastId = idOf(line) ?? lastId
        yield (await toStoredLine(storage, line, seq, limits)) ?? {
          line,
          bytes: read.bytes,
          entry: report === undefined ? undefined : parseEntry(line, seq, report),
        }
      }
    }
  }
  if (blanks > 0) report?.(blankDiagnostic(blanks, firstBlankAt))
}

async function headerLine(source: LineSource): Promise<string> {
  for await (const read of source.lines()) if (isHeader(read)) return read.line as string
  throw new SessionError(
    "conflict",
    "The file changed while it was read. Import it again when the file no longer changes.",
  )
}

/** The first record that is not a title slot; `identifySource` has found that it is a header. */
function isHeader({ line }: ReadLine): boolean {
  const record = line === undefined ? undefined : parseLine(line).record
  return record !== undefined && record.type !== "title"
}

/** Storages refuse empty lines. A line of white space is dropped only before the header. */
function isBlank({ line }: ReadLine, headerRead: boolean): boolean {
  return line === "" || line === "\r" || (!headerRead && line?.trim() === "")
}

/** Throws `too_large` for a line that no string can hold. */
export function textOf({ line, bytes, at }: ReadLine, seq: Seq): string {
  if (line !== undefined) return line
  const message = `Line ${seq} of the log, at byte ${at} of the file, has ${bytes} bytes: more than this runtime can hold. Nothing was written.`
  throw new SessionError("too_large", message)
}

const OUR_ID = /^\{"type":"[^"\\]*","id":"([^"\\]+)","parentId":/

/** The id of the entry in a line. Most lines have our order of keys and need no parsing. */
function idOf(line: string): string | undefined {
  const { 1: id } = OUR_ID.exec(line) ?? []
  if (id !== undefined) return id
  const { record } = parseLine(line)
  return isEntry(record) ? record.id : undefined
}
