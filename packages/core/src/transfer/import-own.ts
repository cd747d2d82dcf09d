/** A log of ours from a file: its lines go in as they are, but for what an append would not leave in them. */
import { SessionError } from "../format/errors.ts"
import type { BlobLimits } from "../format/blob-refs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { isEntry } from "../format/guards.ts"
import type { ReadLine } from "../format/jsonl.ts"
import { parseLine } from "../format/line.ts"
import type { LogRecord } from "../format/line.ts"
import { FORMAT, VERSION } from "../format/records.ts"
import type { Seq, SessionStorage } from "../storage/contract.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { LineToWrite, ImportedLog } from "./log-to-write.ts"
import { withId, withOriginLines } from "./headers.ts"
import type { LineSource } from "./source.ts"
import { toStoredForm, toStoredLine } from "./stored-form.ts"
import { blankDiagnostic, unreadableDiagnostic, unreadableEntry, unreadableOf } from "./unreadable.ts"

/**
 * Only the header's id is another, and where the log goes in several batches its header says how many lines there must be. Images
 * and long strings that stand in a line, as a self-contained export has them, go to the blob store; the rest of the line stays.
 */
export async function ownLogToWrite(
  storage: SessionStorage,
  source: LineSource,
  id: string,
  limits: BlobLimits,
): Promise<ImportedLog> {
  const line = await headerLine(source)
  const header = withId(line, id)
  const { id: was, timestamp: said } = parseLine(line).record as LogRecord
  const timestamp = typeof said === "string" ? said : new Date(0).toISOString()
  return {
    id,
    header: (lines) =>
      lines === undefined ? header : withOriginLines(header, lines, typeof was === "string" ? was : id),
    lines: (note) => linesOf(storage, source, { timestamp, limits }, note),
    from: { format: FORMAT, version: VERSION },
    diagnostics: [],
  }
}

/** What stands before the header, and is no record, follows it: a log begins with its header. */
async function* linesOf(
  storage: SessionStorage,
  source: LineSource,
  { timestamp, limits }: { readonly timestamp: string; readonly limits: BlobLimits },
  note: ((diagnostic: Diagnostic) => void) | undefined,
): AsyncGenerator<LineToWrite, void, undefined> {
  let seq = 0
  let lastId: string | null = null
  let headerMet = false
  let blanks = 0
  let firstBlankAt = 0
  for await (const read of source.lines()) {
    if (!headerMet && isHeader(read)) {
      headerMet = true
    } else if (isBlank(read, headerMet)) {
      if (blanks++ === 0) firstBlankAt = read.at
    } else {
      seq++
      const unreadable = unreadableOf(read)
      if (unreadable !== undefined) {
        note?.(unreadableDiagnostic(unreadable, seq))
        const entry = unreadableEntry(unreadable, { seq, parentId: lastId, timestamp })
        lastId = entry.id
        yield toStoredForm(storage, entry, seq, limits)
      } else {
        const line = textOf(read, seq)
        lastId = idOf(line) ?? lastId
        yield (await toStoredLine(storage, line, seq, limits)) ?? {
          line,
          bytes: read.bytes,
          entry: note === undefined ? undefined : parseEntry(line, seq, note),
        }
      }
    }
  }
  if (blanks > 0) note?.(blankDiagnostic(blanks, firstBlankAt))
}

async function headerLine(source: LineSource): Promise<string> {
  for await (const read of source.lines()) if (isHeader(read)) return read.line as string
  throw new SessionError("conflict", "The file changed while it was read. Import it again when it stands still.")
}

/** The first record that is not a title stands for the file. */
function isHeader({ line }: ReadLine): boolean {
  const record = line === undefined ? undefined : parseLine(line).record
  return record !== undefined && record.type !== "title"
}

/** No storage has an empty line. Before the header a blank one has no place either. */
function isBlank({ line }: ReadLine, headerMet: boolean): boolean {
  return line === "" || line === "\r" || (!headerMet && line?.trim() === "")
}

export function textOf({ line, bytes, at }: ReadLine, seq: Seq): string {
  if (line !== undefined) return line
  const message = `Line ${seq} of the log, at byte ${at} of the file, has ${bytes} bytes: more than this runtime can hold. Nothing was written.`
  throw new SessionError("too_large", message)
}

const OUR_ID = /^\{"type":"[^"\\]*","id":"([^"\\]+)","parentId":/

/** Of the entry that a line is. Most lines are in our order, and need no parsing for it. */
function idOf(line: string): string | undefined {
  const { 1: id } = OUR_ID.exec(line) ?? []
  if (id !== undefined) return id
  const { record } = parseLine(line)
  return isEntry(record) ? record.id : undefined
}
