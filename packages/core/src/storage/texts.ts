/** Encodes and decodes texts, for stores that keep bytes. */
import { StorageError } from "./errors.ts"

const encoder = new TextEncoder()
// Without `ignoreBOM` a BOM at the start of a line would vanish; without `fatal` invalid bytes would become U+FFFD.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export function toUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Throws `corrupt` if the bytes are not UTF-8. `at` is their path, key or row. */
export function fromUtf8(bytes: Uint8Array, at: string): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    const message = `The data at ${at} is not UTF-8. It is left unchanged: restore it from a backup, or delete the session.`
    throw new StorageError("corrupt", message, { at, cause })
  }
}
