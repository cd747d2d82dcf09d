/** Decodes the bytes of whole lines in the way that is fastest on Bun. */
import { isAscii } from "node:buffer"
import type { DecodeLines } from "@sessions/fs"

/**
 * One `TextDecoder` call for the whole block, then a split. `@sessions/fs` decodes non-ASCII text 32 KB at a time, because V8 is
 * slow at parsing slices of a large two-byte string; JavaScriptCore is not. Bun's `TextDecoder` also detects invalid UTF-8 on the
 * way.
 */
export const decodeLines: DecodeLines = (bytes) => {
  if (isAscii(bytes)) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1").split("\n")
  try {
    return decoder.decode(bytes).split("\n")
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
