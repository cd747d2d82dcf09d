import { StorageError } from "@sessions/core/storage"

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const toBytes = (text: string): Uint8Array => new TextEncoder().encode(text)

export function toText(bytes: Uint8Array, at: string): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new StorageError("corrupt", `What is stored is not UTF-8 (${at}); restore the database.`, { at, cause })
  }
}

/** The first and last text with a prefix, where all are ASCII. */
export const within = (prefix: string): [string, string] => [prefix, `${prefix}\u{10ffff}`]
