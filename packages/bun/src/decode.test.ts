import { decodeLines } from "./decode.ts"
import { expect, test } from "vitest"

const encoder = new TextEncoder()

test("lines come out of their bytes as they went in, whatever they hold but LF", () => {
  const odd = [
    "plain",
    "\ufeffwith a BOM",
    "\ufeff",
    "ends in CR\r",
    "",
    "ü",
    "会话",
    "👍🏽",
    "\u2028\u2029\u0085",
    "\0",
    "\uffff",
  ]
  for (const a of odd) {
    for (const b of odd) expect(decodeLines(encoder.encode(`${a}\n${b}`))).toEqual([a, b])
  }
  expect(decodeLines(encoder.encode(odd.join("\n")))).toEqual(odd)
})

test("lines of a buffer that is used again keep their text", () => {
  for (const text of ["plain\nlines", "schöne\nZeilen"]) {
    const bytes = encoder.encode(text)
    const lines = decodeLines(bytes)
    bytes.fill(0x78)
    expect(lines).toEqual(text.split("\n"))
  }
})

test("bytes in the middle of a larger buffer are decoded alone", () => {
  const bytes = encoder.encode("ö before\nplain\nschön\nafter ö")
  expect(decodeLines(bytes.subarray(10, 15))).toEqual(["plain"])
  expect(decodeLines(bytes.subarray(10, 22))).toEqual(["plain", "schön"])
})

test("what is not UTF-8 is no text: cut sequences, overlong ones, surrogates, stray bytes", () => {
  for (const bad of [[0xc3], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80], [0xe4, 0xbc]]) {
    const bytes = new Uint8Array([0x61, 0x0a, 0xc3, 0xbc, ...bad, 0x0a, 0x62])
    expect(decodeLines(bytes)).toBeUndefined()
  }
})
