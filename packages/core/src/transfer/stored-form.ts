/** An entry as its line is stored: what is large moved to the blob store, just as an append does it. */
import { applyBlobs, mayHoldBlobs, planBlobs } from "../format/blob-refs.ts"
import type { BlobLimits, BlobRef, PlannedBlob } from "../format/blob-refs.ts"
import { withChanges } from "../format/json-edit.ts"
import { toEncodedEntry, lineOf, parseLine, withoutTransients } from "../format/line.ts"
import type { Entry } from "../format/records.ts"
import type { Seq, SessionStorage } from "../storage/contract.ts"
import { sha256Hex } from "../storage/hash.ts"
import { putBlobs } from "../log/blobs.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { LineToWrite } from "./log-to-write.ts"

/** The line is known before its blobs are put, so that a log can be measured and compared without writing anything. */
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
  return { line: lineOf(toEncodedEntry(stored), seq), entry, before: putting(storage, whole, limits) }
}

/** The same of an entry's line, of which nothing else changes. Undefined where all of it stays, and where it is no entry. */
export async function toStoredLine(
  storage: SessionStorage,
  line: string,
  seq: Seq,
  limits: BlobLimits,
): Promise<LineToWrite | undefined> {
  if (!mayHoldBlobs({ before: "", after: line }, limits)) return undefined
  const { record } = parseLine(line)
  const entry = parseEntry(line, seq, () => undefined)
  const planned = record === undefined || entry === undefined ? [] : planBlobs(record, limits)
  if (planned.length === 0) return undefined
  const stored = applyBlobs(record as object, await refsOf(planned))
  return { line: withChanges(line, record, stored), entry, before: putting(storage, record as object, limits) }
}

function refsOf(planned: readonly PlannedBlob[]): Promise<BlobRef[]> {
  return Promise.all(
    planned.map(async ({ pointer, encoding, bytes }) => ({ pointer, encoding, hash: await sha256Hex(bytes) })),
  )
}

/** Planned once more: until then nothing but the entry is held. */
function putting(storage: SessionStorage, entry: object, limits: BlobLimits): () => Promise<void> {
  return async () => void (await putBlobs(storage, planBlobs(entry, limits)))
}
