import { assert, integer, oneof, property, string } from "fast-check"
import { expect, test } from "vitest"
import { cleanJson, cleanLine, cleanLines } from "./sanitize.ts"

const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000)
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

/** From the ranges where the controls are. */
const character = oneof(integer({ min: 0, max: 0x100 }), integer({ min: 0x2000, max: 0x2070 })).map((code) =>
  String.fromCharCode(code),
)

test("an escape sequence is shown, not obeyed", () => {
  expect(cleanLine("a\u001b[2Jb\u009b31mc\u007f")).toBe("a␛[2Jb\\u009b31mc␡")
})

test("a line stays one line", () => {
  expect(cleanLine("a\nb\r\nc\td\u2028e\rf")).toBe("a b c d e f")
})

test("a mark that turns the direction of text is shown as its code", () => {
  expect(cleanLine("user\u202etxt.exe\u2066")).toBe("user\\u202etxt.exe\\u2066")
})

test("a text keeps its lines", () => {
  expect(cleanLines("a\n\tb\r\nc\u0007")).toEqual(["a", "  b", "c␇"])
})

test("no text and no JSON leaves with a control character", () => {
  assert(
    property(string({ unit: character }), (text) => {
      expect(cleanLine(text)).not.toMatch(control)
      const json = cleanJson(JSON.stringify({ text }))
      expect(json).not.toMatch(control)
      expect(JSON.parse(json)).toEqual({ text })
    }),
    { seed },
  )
})
