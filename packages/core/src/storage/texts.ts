/** Texts as bytes, for stores that keep those. */
import { StorageError } from "./errors.ts"

const encoder = new TextEncoder()
// Without these a BOM at the start of a line vanishes, and bytes that are no text come back as other ones.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** `corrupt` where the bytes are no UTF-8; `at` says where they lie. */
export function fromUtf8(bytes: Uint8Array, at: string): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    const message = `What is stored at ${at} is not UTF-8; it is left as it is. Restore it, or delete the session.`
    throw new StorageError("corrupt", message, { at, cause })
  }
}
