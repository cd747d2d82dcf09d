/** Bytes of whole lines as texts, the way that is fastest on Bun. */
import { isAscii } from "node:buffer"
import type { DecodeLines } from "@sessions/fs"

/**
 * One text for the whole piece, then a split, whose lines are views of that text. V8 takes long to parse views of a text with two
 * bytes a character, so `@sessions/fs` decodes 32 KB at a time where they are not ASCII; JavaScriptCore does not. Bun's `TextDecoder`
 * finds out what is not UTF-8 on the way.
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
