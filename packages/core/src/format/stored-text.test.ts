import { expect, test } from "vitest"
import { textOf } from "./stored-text.ts"

test("a value that is nested too deeply, or that `String` and `JSON.stringify` take for no text, has a text", () => {
  const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) as unknown
  expect(textOf(deep)).toBe('"(nested too deeply)"')
  expect(textOf({ toString: 1, toJSON: 1 })).toBe('{"toString":1,"toJSON":1}')
  expect([textOf(undefined), textOf(null)]).toEqual(["", ""])
})
