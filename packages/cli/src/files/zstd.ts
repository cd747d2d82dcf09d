/**
 * Reads files that an agent has compressed with Zstandard: Codex does so with older sessions, deepseek-harness with all. A file that is cut off must be an error: in
 * Bun 1.4.5 and Deno the functions of node:zlib give the beginning of such a file, or nothing, without one.
 */
import { type Duplex, pipeline, Readable } from "node:stream"
import { buffer } from "node:stream/consumers"
import * as zlib from "node:zlib"
import { CommandError } from "../errors.ts"
import { framesOf } from "./zstd-frames.ts"

type Decompress = (compressed: Readable) => AsyncIterable<Uint8Array>

interface Zstd {
  zstdCompressSync(text: string): Uint8Array
  zstdDecompressSync(compressed: Uint8Array): Uint8Array
  createZstdDecompress(): Duplex
}

/** Missing before Node 22.15. */
const node = zlib as unknown as Partial<Zstd>
const { Bun } = globalThis as { readonly Bun?: { zstdDecompress(compressed: Uint8Array): Promise<Uint8Array> } }

/** Null if the runtime has no zstd that reports a cut file. */
export const decompress: Decompress | null = decompressOf()

function decompressOf(): Decompress | null {
  if (Bun !== undefined)
    return async function* inOnePiece(compressed) {
      yield await Bun.zstdDecompress(await buffer(compressed))
    }
  const { zstdCompressSync, zstdDecompressSync, createZstdDecompress } = node
  if (zstdCompressSync === undefined || zstdDecompressSync === undefined || createZstdDecompress === undefined)
    return null
  try {
    zstdDecompressSync(zstdCompressSync("x").subarray(0, -1))
    return null
  } catch {
    // The stream that is returned fails with any error of the two.
    return async function* byFrames(compressed) {
      for (const frame of framesOf(await buffer(compressed)))
        yield* pipeline(Readable.from([frame]), createZstdDecompress(), () => undefined) as AsyncIterable<Uint8Array>
    }
  }
}

export function isZstd(file: string): boolean {
  return /\.zstd?$/.test(file)
}

/** The content of a compressed file. Ending the iteration ends the reading. In Bun the content is in memory as a whole. */
export function decompressed(
  file: string,
  compressed: Readable,
  read: Decompress | null = decompress,
): AsyncIterable<Uint8Array> {
  if (read !== null) return read(compressed)
  compressed.destroy()
  throw new CommandError(
    `cannot read ${file}: this runtime has no zstd that reports a cut file. Use Node 22.15 or newer, or Bun, or decompress the file with "zstd -d".`,
  )
}
