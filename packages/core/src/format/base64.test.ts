import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { fromBase64, fromBase64InChunks, toBase64, toBase64InChunks } from "./base64.ts"

test("base64 equals Node's, with the runtime's codec and in chunks", () => {
  holds(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64")
      expect(toBase64(bytes)).toBe(text)
      expect(toBase64InChunks(bytes)).toBe(text)
      expect(fromBase64(text)).toEqual(bytes)
      expect(fromBase64InChunks(text)).toEqual(bytes)
    }),
  )
})

test("megabytes are decoded unchanged, at every length around a chunk's end", () => {
  const bytes = new Uint8Array(3_000_000).map((_, i) => (i * 2_654_435_761) >>> 24)
  for (const length of [24_572, 24_573, 24_574, 99_998, 99_999, 3_000_000]) {
    const some = bytes.subarray(0, length)
    const text = toBase64InChunks(some)
    expect(text === toBase64(some)).toBe(true)
    expect(Buffer.compare(fromBase64InChunks(text), some)).toBe(0)
    expect(Buffer.compare(fromBase64(text) ?? new Uint8Array(), some)).toBe(0)
  }
})

test.each([
  "QQ",
  "QQ=",
  "QR==",
  "QUI",
  "Q Q=",
  "QUJD\n\n\n\n",
  "QUJD\n",
  "QQ==QQ==",
  "_-8=",
  "====",
  "Q===",
  "é===",
  "\ud800AAA",
])("%j is not canonical base64", (text) => {
  expect(fromBase64(text)).toBeUndefined()
})
