/** Bytes as base64 and back, with what every runtime has. */

/** The number of characters that one call of `fromCharCode` takes safely. */
const CHUNK = 8_192

/** Not `instanceof`, which is false for a value of another frame or VM context. */
export function isBytes(value: unknown): value is Uint8Array {
  return Object.prototype.toString.call(value) === "[object Uint8Array]"
}

export function toBase64(bytes: Uint8Array): string {
  let text = ""
  for (let at = 0; at < bytes.length; at += CHUNK) text += String.fromCharCode(...bytes.subarray(at, at + CHUNK))
  return btoa(text)
}

export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
}
