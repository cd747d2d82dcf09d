/** Bytes of whole lines as texts. */
import { isAscii } from "node:buffer"
import { StorageError } from "@sessions/core/storage"

export interface DecodePlace {
  readonly session: string
  readonly at: string
  readonly offset: number
}

/** The lines of a piece that starts at a line's start and ends before an LF. Bytes that are not UTF-8: `corrupt`. */
export function decodeLines(bytes: Buffer, place: () => DecodePlace): string[] {
  return decode(bytes, place).split("\n")
}

/** A BOM is content like any other. */
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decode(bytes: Buffer, place: () => DecodePlace): string {
  if (isAscii(bytes)) return bytes.toString("latin1")
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    const { session, at, offset } = place()
    const message = `Session ${session} holds bytes that are not UTF-8 in ${at}, in the ${bytes.length} bytes from ${offset} on.`
    throw new StorageError("corrupt", `${message} They are left as they are.`, {
      session,
      at: `${at}:${offset}`,
      cause,
    })
  }
}
