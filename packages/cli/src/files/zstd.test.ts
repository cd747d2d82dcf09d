/** Compressed files on a runtime without zstd. */
import { Readable } from "node:stream"
import { expect, test } from "vitest"
import { decompressed } from "./zstd.ts"

test("without zstd in the runtime, the error says what to do, and the file is closed", () => {
  const file = Readable.from(["x"])
  expect(() => decompressed("a.jsonl.zst", file, null)).toThrow(
    'cannot read a.jsonl.zst: this runtime has no zstd that reports a cut file. Use Node 22.15 or newer, or Bun, or decompress the file with "zstd -d".',
  )
  expect(file.destroyed).toBe(true)
})
