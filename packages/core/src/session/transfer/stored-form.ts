/** An entry as its line is stored: what is large moved to the blob store, just as an append does it. */
import { applyBlobs, mayHoldBlobs, planBlobs } from "../../format/blob-refs.ts"
import type { BlobLimits } from "../../format/blob-refs.ts"
import { encodeEntry, lineOf, withoutTransients } from "../../format/line.ts"
import type { Entry } from "../../format/records.ts"
import type { Seq, SessionStorage } from "../../storage/contract.ts"
import { sha256Hex } from "../../storage/hash.ts"
import { putBlobs } from "../blobs.ts"
import type { LineToWrite } from "./log-to-write.ts"

/** The line is known before its blobs are put, so that a log can be measured and compared without writing anything. */
export async function toStoredForm(
  storage: SessionStorage,
  entry: Entry,
  seq: Seq,
  limits: BlobLimits,
): Promise<LineToWrite> {
  const whole = withoutTransients(entry)
  const full = encodeEntry(whole)
  const planned = mayHoldBlobs(full, limits) ? planBlobs(whole, limits) : []
  if (planned.length === 0) return { line: lineOf(full, seq), entry }
  const refs = await Promise.all(
    planned.map(async ({ pointer, encoding, bytes }) => ({ pointer, encoding, hash: await sha256Hex(bytes) })),
  )
  return {
    line: lineOf(encodeEntry(applyBlobs(whole, refs)), seq),
    entry,
    // Planned once more: until then nothing but the entry is held.
    before: async () => void (await putBlobs(storage, planBlobs(whole, limits))),
  }
}
