/** The parts of a session file that say what it is: whole lines from its beginning and from its end. */
import { createReadStream } from "node:fs"
import { readFile, stat } from "node:fs/promises"
import { decompressed, isZstd } from "../files/zstd.ts"

/** What is read of each end. */
const END_BYTES = 65_536

/** How far the beginning is read for what it does not say at once, as a prompt behind long instructions. */
const MAX_BYTES = 8 * END_BYTES

const NEWLINE = 10

/**
 * Lines from the beginning until `isEnough`, and those of the end. A line is read whole, however long it is, and so is a file whose name says
 * that it is one document. A compressed file has no end that can be read alone.
 */
export async function* endsOf(file: string, isEnough: () => boolean): AsyncGenerator<string, void, undefined> {
  if (file.endsWith(".json")) {
    yield await readFile(file, "utf8")
    return
  }
  if (isZstd(file)) {
    yield* beginningOf(decompressed(file, createReadStream(file)), isEnough)
    return
  }
  const at = yield* beginningOf(createReadStream(file), isEnough)
  if (at === undefined) return
  const from = Math.max(at, (await stat(file)).size - END_BYTES)
  const pieces: Uint8Array[] = []
  for await (const piece of createReadStream(file, { start: from })) pieces.push(piece as Uint8Array)
  const rest = textOf(pieces)
  yield from === at ? rest : rest.slice(rest.indexOf("\n") + 1)
}

/** Where the line behind it begins; undefined at the end of the file. */
async function* beginningOf(
  bytes: AsyncIterable<Uint8Array>,
  isEnough: () => boolean,
): AsyncGenerator<string, number | undefined, undefined> {
  let at = 0
  /** A line without its end. */
  let open: Uint8Array[] = []
  for await (const piece of bytes) {
    const end = piece.lastIndexOf(NEWLINE) + 1
    open.push(piece.subarray(0, end === 0 ? piece.length : end))
    at += piece.length
    if (end === 0) continue
    yield textOf(open)
    open = [piece.subarray(end)]
    if (at >= MAX_BYTES || (at >= END_BYTES && isEnough())) return at - piece.length + end
  }
  yield textOf(open)
  return undefined
}

function textOf(pieces: readonly Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(pieces))
}
