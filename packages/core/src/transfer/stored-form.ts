/** Encodes an entry as the line that an append would store: large values move to the blob store. */
import { applyBlobs, mayHoldBlobs, planBlobs } from "../format/blobs.ts"
import type { BlobLimits, BlobRef, PlannedBlob } from "../format/blobs.ts"
import { withChanges } from "../format/json-edit.ts"
import { toEncodedEntry, lineOf, parseLine, withoutTransients } from "../format/line.ts"
import type { Entry } from "../format/entry.ts"
import type { Seq, SessionStorage } from "../storage/contract.ts"
import { sha256Hex } from "../storage/hash.ts"
import { putBlobs } from "../log/blobs.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { LineToWrite } from "./write-log.ts"

/** Computes the line without storing its blobs, so that a log can be measured and compared before anything is written. */
export async function toStoredForm(
  storage: SessionStorage,
  entry: Entry,
  seq: Seq,
  limits: BlobLimits,
): Promise<LineToWrite> {
  const whole = withoutTransients(entry)
  const full = toEncodedEntry(whole)
  const planned = mayHoldBlobs(full, limits) ? planBlobs(whole, limits) : []
  if (planned.length === 0) return { line: lineOf(full, seq), entry }
  const stored = applyBlobs(whole, await refsOf(planned))
  return { line: lineOf(toEncodedEntry(stored), seq), entry, putBlobs: putBlobsOf(storage, whole, limits) }
}

/** The same for a stored line; the rest of the line stays unchanged. Undefined if nothing moves, or the line is not an entry. */
export async function toStoredLine(
  storage: SessionStorage,
  line: string,
  seq: Seq,
  limits: BlobLimits,
): Promise<LineToWrite | undefined> {
  if (!mayHoldBlobs({ before: "", after: line }, limits)) return undefined
  const { record } = parseLine(line)
  const entry = parseEntry(line, seq)
  const planned = record === undefined || entry === undefined ? [] : planBlobs(record, limits)
  if (planned.length === 0) return undefined
  const stored = applyBlobs(record as object, await refsOf(planned))
  return { line: withChanges(line, record, stored), entry, putBlobs: putBlobsOf(storage, record as object, limits) }
}

function refsOf(planned: readonly PlannedBlob[]): Promise<BlobRef[]> {
  return Promise.all(
    planned.map(async ({ pointer, encoding, bytes }) => ({ pointer, encoding, hash: await sha256Hex(bytes) })),
  )
}

/** Plans the blobs again when they are stored, so that until then only the entry is held in memory. */
function putBlobsOf(storage: SessionStorage, entry: object, limits: BlobLimits): () => Promise<void> {
  return async () => void (await putBlobs(storage, planBlobs(entry, limits)))
}
