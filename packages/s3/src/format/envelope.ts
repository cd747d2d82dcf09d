/**
 * The envelope is the header of a document or blob. It contains a random token, because S3 derives ETags from the content: the
 * token gives every write an ETag of its own, even if it writes the same bytes again.
 */

/** One byte more than a tombstone, so that even an empty document is longer than one. */
export const ENVELOPE_SIZE = 65
const ENVELOPE = /^\{"format":"@sessions\/s3","v":(\d+),"t":"([0-9a-z]{12})([0-9a-z]{12})?"\} *\n$/

const encoder = new TextEncoder()

export interface Envelope {
  readonly content: Uint8Array
  /** Token of the write that made this object. */
  readonly token: string
  /**
   * Token of the object that it replaced; undefined if there was none. A writer whose answer was lost learns from it whether its
   * own write took place.
   */
  readonly replaced: string | undefined
}

export function encodeEnvelope(content: Uint8Array, token: string, replaced = ""): Uint8Array {
  const bytes = new Uint8Array(ENVELOPE_SIZE + content.length)
  bytes.set(
    encoder.encode(`${`{"format":"@sessions/s3","v":1,"t":"${token}${replaced}"}`.padEnd(ENVELOPE_SIZE - 1)}\n`),
  )
  bytes.set(content, ENVELOPE_SIZE)
  return bytes
}

/** Undefined if the object is not a document or blob of this package. */
export function decodeEnvelope(bytes: Uint8Array): Envelope | undefined {
  if (bytes.length < ENVELOPE_SIZE) return undefined
  const found = ENVELOPE.exec(new TextDecoder().decode(bytes.subarray(0, ENVELOPE_SIZE)))
  if (found?.[1] !== "1") return undefined
  return { content: bytes.subarray(ENVELOPE_SIZE), token: found[2] as string, replaced: found[3] }
}
