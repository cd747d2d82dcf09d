/**
 * The frames of a compressed file: deepseek-harness appends one for each batch of events. Streams of node:zlib before Node 26 end behind the
 * first frame, without an error. RFC 8878, sections 3.1.1 and 3.1.2.
 */

/** The bytes of each frame. The last one may be cut off: who decompresses it sees that. */
export function framesOf(bytes: Uint8Array): readonly Uint8Array[] {
  const frames: Uint8Array[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = endOfFrame(bytes, at) ?? bytes.length
    frames.push(bytes.subarray(at, end))
    at = end
  }
  return frames
}

/** Undefined for a frame that does not end in the bytes, and for what is no frame. */
function endOfFrame(bytes: Uint8Array, begin: number): number | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (begin + 8 > bytes.length) return undefined
  const magic = view.getUint32(begin, true)
  if (magic >= SKIPPABLE && magic < SKIPPABLE + 16) return within(bytes, begin + 8 + view.getUint32(begin + 4, true))
  if (magic !== MAGIC) return undefined
  const descriptor = view.getUint8(begin + 4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  const window = isSingleSegment ? 0 : 1
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0
  const size = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  let at = begin + 5 + window + dictionary + size
  for (let isLast = false; !isLast; ) {
    if (at + 3 > bytes.length) return undefined
    const header = view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16)
    isLast = (header & 1) === 1
    // A block of one byte that is repeated has that byte alone.
    at += 3 + (((header >> 1) & 3) === 1 ? 1 : header >> 3)
  }
  return within(bytes, at + ((descriptor & 4) === 0 ? 0 : 4))
}

function within(bytes: Uint8Array, end: number): number | undefined {
  return end <= bytes.length ? end : undefined
}

const MAGIC = 0xfd_2f_b5_28

const SKIPPABLE = 0x18_4d_2a_50
