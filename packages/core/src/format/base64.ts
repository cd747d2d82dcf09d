/** Base64 with padding (RFC 4648, section 4), by the runtime's own codec where it has one. */

interface NativeBase64 {
  readonly toBase64?: (this: Uint8Array) => string
}
interface NativeBase64Constructor {
  readonly fromBase64?: (text: string, o: { readonly lastChunkHandling: "strict" }) => Uint8Array
}

export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as Uint8Array & NativeBase64).toBase64
  return native === undefined ? toBase64InPieces(bytes) : native.call(bytes)
}

/** The bytes of which this text is the base64, to the character; undefined where there are none. */
export function fromBase64(text: string): Uint8Array | undefined {
  // Every other length is no padded base64; it also keeps the pieces below aligned.
  if (text.length % 4 !== 0) return undefined
  try {
    const native = (Uint8Array as NativeBase64Constructor).fromBase64
    const bytes =
      native === undefined ? fromBase64InPieces(text) : native.call(Uint8Array, text, { lastChunkHandling: "strict" })
    return toBase64(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}

/** A multiple of 3, so that no piece but the last is padded, and few enough for the arguments of one call. */
const PIECE_BYTES = 24_573
const PIECE_CHARS = (PIECE_BYTES / 3) * 4

export function toBase64InPieces(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let i = 0; i < bytes.length; i += PIECE_BYTES) {
    pieces.push(btoa(String.fromCharCode(...bytes.subarray(i, i + PIECE_BYTES))))
  }
  return pieces.join("")
}

/** Throws for text that is no base64. What is not canonical may come back as other text. */
export function fromBase64InPieces(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length / 4) * 3)
  let length = 0
  for (let i = 0; i < text.length; i += PIECE_CHARS) {
    const binary = atob(text.slice(i, i + PIECE_CHARS))
    for (let k = 0; k < binary.length; k++) bytes[length++] = binary.charCodeAt(k)
  }
  return bytes.subarray(0, length)
}
