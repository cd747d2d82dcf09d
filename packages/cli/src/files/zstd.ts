/** Reads files that an agent has compressed with Zstandard: Codex does so with older sessions. */
import { type Duplex, pipeline, type Readable } from "node:stream"
import * as zlib from "node:zlib"
import { CommandError } from "../errors.ts"

/** Missing before Node 22.15. */
const native = (zlib as { readonly createZstdDecompress?: () => Duplex }).createZstdDecompress ?? null

export function isZstd(file: string): boolean {
  return file.endsWith(".zst")
}

/** The content of a compressed file. Ending the iteration ends the reading. `create`: null if the runtime has no zstd. */
export function decompressed(
  file: string,
  compressed: Readable,
  create: (() => Duplex) | null = native,
): AsyncIterable<Uint8Array> {
  if (create === null) {
    compressed.destroy()
    const message = `cannot read ${file}: this version of Node does not read zstd. Use Node 22.15 or newer, or decompress the file with "zstd -d".`
    throw new CommandError(message)
  }
  // The stream that is returned fails with any error of the two.
  return pipeline(compressed, create(), () => undefined)
}
