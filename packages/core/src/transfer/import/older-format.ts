/** Imports a log of an older version: converts it to the lines of a current log. */
import type { BlobLimits } from "../../format/blobs.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import { encodeHeader } from "../../format/line.ts"
import { isRawLine } from "../older/records.ts"
import { type MigratedLog, migrateLines } from "../older/migrate.ts"
import type { Seq, SessionStorage } from "../../storage/contract.ts"
import type { ImportedLog } from "../write/log-to-write.ts"
import { type LineSource, textOf, UNREADABLE } from "./source.ts"
import { toStoredLines } from "../write/stored-form.ts"
import { blankDiagnostic, type Unreadable, unreadableDiagnostic, unreadableEntry, unreadableOf } from "./unreadable.ts"
import { withCreationOf, withLines } from "../headers.ts"
import { lineWithGivenBlobs, type GivenBlobs, withGivenBlobs } from "./given-blobs.ts"

/** Holds the log in memory, because the migration of an entry depends on the entries before and after it. */
export async function olderLogToWrite(
  storage: SessionStorage,
  source: LineSource,
  id: string,
  limits: BlobLimits,
  given: GivenBlobs,
): Promise<ImportedLog> {
  const { lines, unreadable, blanks } = await readAll(source)
  const migrated = migrateLines(lines, { id })
  const header = encodeHeader(withCreationOf(withLines(migrated)))
  const kept = withUnreadable(migrated, unreadable)
  const removed: Diagnostic[] = []
  const records = kept.records.map((record, index) =>
    isRawLine(record)
      ? { raw: lineWithGivenBlobs(record.raw, given, index + 1, (found) => removed.push(found)) }
      : withGivenBlobs(record, given, index + 1, (found) => removed.push(found)),
  )
  const stored = await toStoredLines(storage, records, limits)
  return {
    id,
    header: () => header,
    lines: (report) => {
      for (const diagnostic of [...blanks, ...kept.diagnostics, ...removed]) report?.(diagnostic)
      return stored
    },
    from: migrated.from,
  }
}

/** By the placeholder that the migration gets in place of the line. */
type UnreadableLines = ReadonlyMap<string, Unreadable>

async function readAll(source: LineSource): Promise<{
  readonly lines: readonly string[]
  readonly unreadable: UnreadableLines
  readonly blanks: readonly Diagnostic[]
}> {
  const lines: string[] = []
  const unreadable = new Map<string, Unreadable>()
  const blanks: number[] = []
  for await (const read of source()) {
    const found = unreadableOf(read)
    const line = found === undefined ? textOf(read, lines.length) : UNREADABLE + String(lines.length)
    if (found !== undefined) unreadable.set(line, found)
    if (line.trim() === "") blanks.push(read.at)
    lines.push(line)
  }
  return { lines, unreadable, blanks: blanks[0] === undefined ? [] : [blankDiagnostic(blanks.length, blanks[0])] }
}

/** The migrated log with an entry in place of each placeholder, and with diagnostics about the unreadable lines. */
function withUnreadable(
  { header, records, diagnostics }: MigratedLog,
  unreadable: UnreadableLines,
): Pick<MigratedLog, "records" | "diagnostics"> {
  const unreadableAt = (seq: Seq | undefined): Unreadable | undefined => {
    const record = records[(seq ?? 0) - 1]
    return record !== undefined && isRawLine(record) ? unreadable.get(record.raw) : undefined
  }
  let parentId: string | null = null
  let { timestamp } = header
  return {
    records: records.map((record, index) => {
      const seq = index + 1
      const found = unreadableAt(seq)
      const kept = found === undefined ? record : unreadableEntry(found, { seq, parentId, timestamp })
      if (!isRawLine(kept)) ({ id: parentId, timestamp } = kept)
      return kept
    }),
    diagnostics: diagnostics.map((diagnostic) => {
      const found = unreadableAt(diagnostic.seq)
      return found === undefined ? diagnostic : unreadableDiagnostic(found, diagnostic.seq as Seq)
    }),
  }
}
