/**
 * The functions on large values as programs call them: they refuse an option that they do not have. A session calls the functions
 * themselves, since `createSessions` has checked its limits.
 */
import { checkOptions, type OptionNames } from "../storage/options.ts"
import * as blobs from "./blobs.ts"
import * as text from "./text.ts"

const LIMITS: OptionNames<blobs.BlobLimits> = { textUnits: 1, imageChars: 1 }
const REF_OPTIONS: OptionNames<blobs.RefOptions> = { foreign: 1 }
const TRUNCATE_LIMITS: OptionNames<text.TruncateLimits> = { textUnits: 1, leave: 1 }

/**
 * The strings of an entry to move to the blob store. An image is stored as its decoded bytes if its data is canonical base64; every other
 * string is stored as UTF-8. A string with a lone surrogate, which UTF-8 cannot encode, stays.
 */
export function planBlobs(entry: object, limits: blobs.BlobLimits = {}): readonly blobs.PlannedBlob[] {
  checkOptions("planBlobs", limits, LIMITS)
  return blobs.planBlobs(entry, limits)
}

/** All references of an entry: the locations named in `blobs` that have one. A base field is never a reference. */
export function blobRefs(entry: object, o: blobs.RefOptions = {}): readonly blobs.BlobRef[] {
  checkOptions("blobRefs", o, REF_OPTIONS)
  return blobs.blobRefs(entry, o)
}

/** The entry with its strings back in place. */
export function restoreBlobs<E extends object>(
  entry: E,
  bytesByHash: (hash: string) => Uint8Array | undefined,
  o: blobs.RefOptions = {},
): blobs.Restored<E> {
  checkOptions("restoreBlobs", o, REF_OPTIONS)
  return blobs.restoreBlobs(entry, bytesByHash, o)
}

/**
 * The entry with its oversize strings cut and a notice at their ends, or the entry itself if there are none. If a cut string is the
 * `content` of an object with a number `lineCount`, the lines are counted again. Signed and encrypted blocks stay whole, because a provider
 * rejects them otherwise; so do images, which are useless when cut.
 */
export function truncateOversize<E extends object>(entry: E, limits: text.TruncateLimits = {}): E {
  checkOptions("truncateOversize", limits, TRUNCATE_LIMITS)
  return text.truncateOversize(entry, limits)
}
