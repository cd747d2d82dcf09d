/** Compressed files on a runtime whose zstd gives the beginning of a file that is cut off, without an error. */
import { expect, test, vi } from "vitest"

const isBun = "Bun" in globalThis

vi.mock("node:zlib", async (actual) => ({
  ...(await actual<object>()),
  zstdCompressSync: (text: string) => Buffer.from(text),
  zstdDecompressSync: (compressed: Uint8Array) => compressed,
  createZstdDecompress: () => undefined,
}))

test.skipIf(isBun)("a zstd that does not report a cut file is not used", async () => {
  const { decompress } = await import("./zstd.ts")
  expect(decompress).toBeNull()
})
