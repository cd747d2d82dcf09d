/** Whether an entry has to do with blobs at all: cheap looks, which spare most entries, and most pages, the rest of the code. */
import type { BlobLimits } from "./blob-refs.ts"
import type { EncodedEntry } from "./line.ts"
import { BLOB_IMAGE_CHARS, BLOB_TEXT_UNITS } from "./limits.ts"
import type { Entry } from "./records.ts"
import { isObject } from "./shape.ts"

export const PREFIX = "blob:sha256:"

/** Whether an encoded entry can hold anything for `planBlobs`: cheap, and no for almost every entry. */
export function mayHoldBlobs(encoded: EncodedEntry, limits: BlobLimits = {}): boolean {
  const units = encoded.before.length + encoded.after.length
  if (units > (limits.textUnits ?? BLOB_TEXT_UNITS)) return true
  // V8 looks for seven characters or more by a way that prepares itself first, and for these six in a third of the time.
  return units >= (limits.imageChars ?? BLOB_IMAGE_CHARS) && encoded.after.includes('"image')
}

/** The same of an entry that was encoded here, where there are no spaces and a text that speaks of images has its quotes escaped. */
export function doesHoldBlobs(encoded: EncodedEntry, limits: BlobLimits = {}): boolean {
  if (!mayHoldBlobs(encoded, limits)) return false
  const units = encoded.before.length + encoded.after.length
  return units > (limits.textUnits ?? BLOB_TEXT_UNITS) || encoded.after.includes('"type":"image"')
}

/** Whether an entry may refer to blobs: it says so, or has an image whose data looks like a reference, as others write them. */
export function mayRefer(entry: Entry): boolean {
  return (
    entry.blobs !== undefined ||
    hasReference(entry) ||
    hasReference(entry["message"]) ||
    hasReference(entry["replacement"])
  )
}

function hasReference(holder: unknown): boolean {
  const content = isObject(holder) ? holder["content"] : undefined
  if (!Array.isArray(content)) return false
  return content.some((block: unknown) => isObject(block) && isReference(block["data"]))
}

function isReference(value: unknown): boolean {
  return typeof value === "string" && value.startsWith(PREFIX)
}
