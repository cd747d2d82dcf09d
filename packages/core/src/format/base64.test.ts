import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { fromBase64, fromBase64InPieces, toBase64, toBase64InPieces } from "./base64.ts"

test("base64 is that of Node, with the runtime's codec and in pieces", () => {
  holds(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64")
      expect(toBase64(bytes)).toBe(text)
      expect(toBase64InPieces(bytes)).toBe(text)
      expect(fromBase64(text)).toEqual(bytes)
      expect(fromBase64InPieces(text)).toEqual(bytes)
    }),
  )
})

test("megabytes come back, at every length around the end of a piece", () => {
  const bytes = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2_654_435_761) >>> 24)
  for (const length of [24_572, 24_573, 24_574, 2_999_998, 2_999_999, 3_000_000]) {
    const some = bytes.subarray(0, length)
    const text = toBase64InPieces(some)
    expect(text === toBase64(some)).toBe(true)
    expect(Buffer.compare(fromBase64InPieces(text), some)).toBe(0)
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
])("%j is the base64 of nothing: it would come back as another text", (text) => {
  expect(fromBase64(text)).toBeUndefined()
})
