/** Encodes and decodes base64 with padding (RFC 4648, section 4), with the runtime's own codec if it has one. */

interface NativeBase64 {
  readonly toBase64?: (this: Uint8Array) => string
}
interface NativeBase64Constructor {
  readonly fromBase64?: (text: string, o: { readonly lastChunkHandling: "strict" }) => Uint8Array
}

export function toBase64(bytes: Uint8Array): string {
  const native = (bytes as Uint8Array & NativeBase64).toBase64
  return native === undefined ? toBase64InChunks(bytes) : native.call(bytes)
}

/** The bytes whose base64 is exactly this text, or undefined. */
export function fromBase64(text: string): Uint8Array | undefined {
  // Padded base64 has no other length; the chunks below rely on it.
  if (text.length % 4 !== 0) return undefined
  try {
    const native = (Uint8Array as NativeBase64Constructor).fromBase64
    const bytes =
      native === undefined ? fromBase64InChunks(text) : native.call(Uint8Array, text, { lastChunkHandling: "strict" })
    return toBase64(bytes) === text ? bytes : undefined
  } catch {
    return undefined
  }
}

/** A multiple of 3, so that only the last chunk is padded, and few enough for the arguments of one call. */
const CHUNK_BYTES = 24_573
const CHUNK_CHARS = (CHUNK_BYTES / 3) * 4

export function toBase64InChunks(bytes: Uint8Array): string {
  const chunks: string[] = []
  for (let i = 0; i < bytes.length; i += CHUNK_BYTES) {
    chunks.push(btoa(String.fromCharCode(...bytes.subarray(i, i + CHUNK_BYTES))))
  }
  return chunks.join("")
}

/** Throws for text that is not base64. Accepts text that is not canonical. */
export function fromBase64InChunks(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length / 4) * 3)
  let length = 0
  for (let i = 0; i < text.length; i += CHUNK_CHARS) {
    const binary = atob(text.slice(i, i + CHUNK_CHARS))
    for (let k = 0; k < binary.length; k++) bytes[length++] = binary.charCodeAt(k)
  }
  return bytes.subarray(0, length)
}
