import { randomBytes } from "node:crypto"
import * as zlib from "node:zlib"
import { expect, test } from "vitest"
import { framesOf } from "./zstd-frames.ts"

/** Missing before Node 22.15. */
const { zstdCompressSync, zstdDecompressSync, constants } = zlib as unknown as {
  readonly zstdCompressSync?: (bytes: Uint8Array, o?: object) => Buffer
  readonly zstdDecompressSync: (bytes: Uint8Array) => Buffer
  readonly constants: Readonly<Record<string, number>>
}

test.skipIf(zstdCompressSync === undefined)("each frame is found, of any size, with and without a checksum", () => {
  const texts = ["", "a", "ab".repeat(200_000), randomBytes(300_000).toString("base64"), "\0".repeat(1000)]
  const checksum = { params: { [constants["ZSTD_c_checksumFlag"] as number]: 1 } }
  const frames = texts.flatMap((text) => [undefined, checksum].map((o) => zstdCompressSync?.(Buffer.from(text), o)))
  const found = framesOf(Buffer.concat(frames as Buffer[]))
  expect(found.map((frame) => zstdDecompressSync(frame).toString())).toEqual(texts.flatMap((text) => [text, text]))
})

test.skipIf(zstdCompressSync === undefined)("a frame that is cut off is the last one, as it is", () => {
  const [one, two] = ["one", "two"].map((text) => zstdCompressSync?.(Buffer.from(text)) as Buffer) as [Buffer, Buffer]
  for (let cut = 1; cut < two.length; cut++) {
    const found = framesOf(Buffer.concat([one, two.subarray(0, cut)]))
    expect(found.map((frame) => frame.length)).toEqual([one.length, cut])
  }
  expect(framesOf(Buffer.from("no frame at all"))).toHaveLength(1)
  expect(framesOf(new Uint8Array())).toEqual([])
})
