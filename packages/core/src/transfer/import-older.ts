/** Converts a log of an older version, from a file or a storage, to the lines of a current log. */
import type { BlobLimits } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { encodeHeader } from "../format/line.ts"
import type { Entry } from "../format/entry.ts"
import type { Header, Origin } from "../format/header.ts"
import { isRawLine } from "./older/log.ts"
import type { RawLine } from "./older/log.ts"
import { migrateLines } from "./older/migrate.ts"
import type { MigratedLog } from "./older/migrate.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { textOf } from "./import-own.ts"
import type { ImportedLog } from "./import-own.ts"
import { UNREADABLE } from "./source.ts"
import type { LineSource } from "./source.ts"
import { toStoredForm } from "./stored-form.ts"
import { blankDiagnostic, unreadableDiagnostic, unreadableEntry, unreadableOf } from "./unreadable.ts"
import type { Unreadable } from "./unreadable.ts"
import type { LineToWrite } from "./write-log.ts"

/** Holds the log in memory, because the migration of an entry depends on the entries before and after it. */
export async function olderLogToWrite(
  storage: SessionStorage,
  source: LineSource,
  id: string,
  limits: BlobLimits,
): Promise<ImportedLog> {
  const { lines, unreadable, diagnostics } = await readAll(source)
  const migrated = migrateLines(lines, { id })
  const header = encodeHeader(withLines(migrated))
  const stored = await toStoredLines(storage, migrated, limits, unreadable)
  return {
    id,
    header: () => header,
    lines: () => stored,
    from: migrated.from,
    diagnostics: [...diagnostics, ...diagnosticsOf(migrated, unreadable)],
  }
}

/** The migrated header with the number of lines of its log, so that an interrupted import can be recognized. */
export function withLines({ header, records }: MigratedLog, more: Partial<Origin> = {}): Header {
  return { ...header, origin: { ...(header.origin as Origin), lines: records.length + 1, ...more } }
}

/** The lines after the header. Lines that are not entries stay unchanged. */
export async function toStoredLines(
  storage: SessionStorage,
  { header, records }: MigratedLog,
  limits: BlobLimits,
  unreadable: ReadonlyMap<string, Unreadable> = new Map(),
): Promise<readonly LineToWrite[]> {
  const lines: LineToWrite[] = []
  let parentId: string | null = null
  let { timestamp } = header
  for (const record of records) {
    const seq = lines.length + 1
    const found: Unreadable | undefined = isRawLine(record) ? unreadable.get(record.raw) : undefined
    const kept: Entry | RawLine = found === undefined ? record : unreadableEntry(found, { seq, parentId, timestamp })
    if (isRawLine(kept)) {
      lines.push({ line: kept.raw })
      continue
    }
    const entry: Entry = kept
    lines.push(await toStoredForm(storage, entry, seq, limits))
    parentId = entry.id
    timestamp = entry.timestamp
  }
  return lines
}

interface ReadAll {
  readonly lines: readonly string[]
  /** By the placeholder in `lines`. */
  readonly unreadable: ReadonlyMap<string, Unreadable>
  readonly diagnostics: readonly Diagnostic[]
}

async function readAll(source: LineSource): Promise<ReadAll> {
  const lines: string[] = []
  const unreadable = new Map<string, Unreadable>()
  const blanks: number[] = []
  for await (const read of source.lines()) {
    const found = unreadableOf(read)
    const line = found === undefined ? textOf(read, lines.length) : UNREADABLE + String(lines.length)
    if (found !== undefined) unreadable.set(line, found)
    if (line.trim() === "") blanks.push(read.at)
    lines.push(line)
  }
  const diagnostics = blanks[0] === undefined ? [] : [blankDiagnostic(blanks.length, blanks[0])]
  return { lines, unreadable, diagnostics }
}

/** Replaces diagnostics about placeholders by diagnostics about the unreadable lines. */
function diagnosticsOf(
  { records, diagnostics }: MigratedLog,
  unreadable: ReadonlyMap<string, Unreadable>,
): readonly Diagnostic[] {
  return diagnostics.map((diagnostic) => {
    const record = diagnostic.seq === undefined ? undefined : records[diagnostic.seq - 1]
    const found = record !== undefined && isRawLine(record) ? unreadable.get(record.raw) : undefined
    return found === undefined ? diagnostic : unreadableDiagnostic(found, diagnostic.seq as number)
  })
}
