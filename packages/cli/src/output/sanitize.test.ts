import { assert, integer, oneof, property, string } from "fast-check"
import { expect, test } from "vitest"
import { sanitizeJson, sanitizeLine, sanitizeLines } from "./sanitize.ts"

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000)
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** Characters from the ranges that contain control characters. */
const character = oneof(integer({ min: 0, max: 0x100 }), integer({ min: 0x2000, max: 0x2070 })).map((code) =>
  String.fromCharCode(code),
)

test("an escape sequence is made visible", () => {
  expect(sanitizeLine("a\u001b[2Jb\u009b31mc\u007f")).toBe("a␛[2Jb\\u009b31mc␡")
})

test("line breaks and tabs become spaces", () => {
  expect(sanitizeLine("a\nb\r\nc\td\u2028e\rf")).toBe("a b c d e f")
})

test("a bidirectional control character is shown as its code", () => {
  expect(sanitizeLine("user\u202etxt.exe\u2066")).toBe("user\\u202etxt.exe\\u2066")
})

test("a longer text keeps its lines", () => {
  expect(sanitizeLines("a\n\tb\r\nc\u0007")).toEqual(["a", "  b", "c␇"])
})

test("sanitized text and JSON contain no control character", () => {
  assert(
    property(string({ unit: character }), (text) => {
      expect(sanitizeLine(text)).not.toMatch(control)
      const json = sanitizeJson(JSON.stringify({ text }))
      expect(json).not.toMatch(control)
      expect(json).not.toMatch(/[\u2028\u2029]/)
      expect(JSON.parse(json)).toEqual({ text })
    }),
    { seed },
  )
})

test("a damaged line of JSON has no control character, and white space between tokens stays white space", () => {
  expect(sanitizeJson("half a line \u001b]52;c;eA==\u0007\n")).toBe("half a line \\u001b]52;c;eA==\\u0007\n")
  expect(JSON.parse(sanitizeJson('{"a":\t1,\r\n"b":2}'))).toEqual({ a: 1, b: 2 })
})
