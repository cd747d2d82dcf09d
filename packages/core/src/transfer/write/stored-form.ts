/** Encodes an entry as the line that an append would store: large values move to the blob store. */
import { applyBlobs, type BlobLimits, mayHoldBlobs, planBlobs } from "../../format/blobs.ts"
import { flatten, writeDeep } from "../../format/deep-text.ts"
import { hasCode } from "../../format/errors.ts"
import { withChanges } from "../../format/json-edit.ts"
import { BLOB_IMAGE_CHARS, BLOB_TEXT_UNITS } from "../../format/limits.ts"
import { encodeEntry, type LogRecord, parseLine, withoutTransients } from "../../format/line.ts"
import type { Entry } from "../../format/entry.ts"
import type { Seq, SessionStorage } from "../../storage/contract.ts"
import { sha256Hex } from "../../storage/hash.ts"
import { putBlobs } from "../../log/blobs.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import { isRawLine, type RawLine } from "../older/records.ts"
import type { LineToWrite } from "./log-to-write.ts"

/**
 * Computes the line without storing its blobs, so that a log can be measured and compared before anything is written. A promise only for
 * an entry that may have blobs: a log has many entries.
 */
export function toStoredForm(
  storage: SessionStorage,
  entry: Entry,
  seq: Seq,
  limits: BlobLimits,
): LineToWrite | Promise<LineToWrite> {
  const line = toLine(entry.seq === seq ? entry : { ...entry, seq })
  return mayMove(line, limits) ? withoutLargeValues(storage, entry, line, seq, limits) : { line, entry }
}

/** An entry that the runtime cannot write, since it is nested too deeply, has its deepest values as texts. */
function toLine(entry: Entry): string {
  try {
    return encodeEntry(entry)
  } catch (error) {
    if (!hasCode(error, "too_large")) throw error
    return encodeEntry(JSON.parse(flatten(writeDeep(withoutTransients(entry)))) as Entry)
  }
}

/** `JSON.stringify` puts no space before a value, and a search stops at colons, which are rarer than the quotes that `mayHoldBlobs` looks at. */
function mayMove(line: string, limits: BlobLimits): boolean {
  if (line.length > (limits.textUnits ?? BLOB_TEXT_UNITS)) return true
  if (line.length < (limits.imageChars ?? BLOB_IMAGE_CHARS)) return false
  return line.includes(':"imag') && mayHoldBlobs({ before: "", after: line }, limits)
}

async function withoutLargeValues(
  storage: SessionStorage,
  entry: Entry,
  line: string,
  seq: Seq,
  limits: BlobLimits,
): Promise<LineToWrite> {
  const moved = await moveBlobs(storage, withoutTransients(entry), limits)
  if (moved === undefined) return { line, entry }
  return { line: toLine({ ...moved.record, seq }), entry, putBlobs: moved.putBlobs }
}

/** The same for a stored line; the rest of the line stays unchanged. Undefined if nothing moves, or the line is not an entry. */
export async function toStoredLine(
  storage: SessionStorage,
  line: string,
  seq: Seq,
  limits: BlobLimits,
): Promise<LineToWrite | undefined> {
  const entry = mayHoldBlobs({ before: "", after: line }, limits) ? parseEntry(line, seq) : undefined
  if (entry === undefined) return undefined
  const record = parseLine(line).record as LogRecord
  const moved = await moveBlobs(storage, record, limits)
  return moved && { line: withChanges(line, record, moved.record), entry, putBlobs: moved.putBlobs }
}

/** The records of the older log as lines. Lines that are not entries stay unchanged. */
export async function toStoredLines(
  storage: SessionStorage,
  records: readonly (Entry | RawLine)[],
  limits: BlobLimits,
): Promise<readonly LineToWrite[]> {
  const lines: LineToWrite[] = []
  for (const record of records) {
    lines.push(isRawLine(record) ? { line: record.raw } : await toStoredForm(storage, record, lines.length + 1, limits))
  }
  return lines
}

/** The record with references in place of its large values; undefined if it has none. */
async function moveBlobs<R extends LogRecord>(
  storage: SessionStorage,
  record: R,
  limits: BlobLimits,
): Promise<{ readonly record: R; readonly putBlobs: () => Promise<void> } | undefined> {
  const planned = planBlobs(record, limits)
  if (planned.length === 0) return undefined
  const refs = await Promise.all(
    planned.map(async ({ pointer, encoding, bytes }) => ({ pointer, encoding, hash: await sha256Hex(bytes) })),
  )
  // Planned again when they are stored, so that until then only the entry is held in memory.
  const store = async (): Promise<void> => void (await putBlobs(storage, planBlobs(record, limits)))
  return { record: applyBlobs(record, refs), putBlobs: store }
}
