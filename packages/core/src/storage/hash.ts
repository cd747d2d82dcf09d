/** SHA-256 by Web Crypto, and bytes as hex digits. */
import { StorageError } from "./errors.ts"

/** SHA-256 as 64 lower-case hex digits, by Web Crypto. Throws `unsupported` in insecure pages, which have no Web Crypto. */
export async function sha256Hex(bytes: Uint8Array | string): Promise<string> {
  const subtle = globalThis.crypto?.subtle
  if (subtle === undefined) {
    throw new StorageError(
      "unsupported",
      "Blobs need Web Crypto, which browsers offer to secure pages only: use https or localhost.",
    )
  }
  const data = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes
  return toHex(new Uint8Array(await subtle.digest("SHA-256", data as Uint8Array<ArrayBuffer>)))
}

export function toHex(bytes: Uint8Array): string {
  let hex = ""
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0")
  return hex
}
