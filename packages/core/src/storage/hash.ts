import { StorageError } from "./errors.ts"

/** SHA-256 as 64 lower-case hex digits, by Web Crypto. Pages that are not secure have none: `unsupported`. */
export async function sha256Hex(bytes: Uint8Array | string): Promise<string> {
  const subtle = globalThis.crypto?.subtle
  if (subtle === undefined) {
    throw new StorageError(
      "unsupported",
      "Blobs and documents need Web Crypto, which browsers give to secure pages only: serve the page over https or from localhost.",
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
