import { expect, test } from "vitest"
import { withId, withOriginLines } from "./headers.ts"

const LINE = '{"type":"session","format":"@sessions","version":4,"id":"a.b-c","timestamp":"t","x":{"id":"a.b-c"}}'

test("the id changes in its place alone, and the rest of the line stays", () => {
  expect(withId(LINE, "new")).toBe(LINE.replace('"a.b-c"', '"new"'))
  expect(withId(LINE, "a.b-c")).toBe(LINE)
  expect(withId(`\uFEFF${LINE}\r`, "new")).toBe(`\uFEFF${LINE.replace('"a.b-c"', '"new"')}\r`)
})

test("where another id stands first, or there is none, the header is written anew with its keys in their order", () => {
  const nested = '{"type":"session","parentSession":{"id":"a"}, "id":"a","version":4}'
  expect(withId(nested, "new")).toBe('{"type":"session","parentSession":{"id":"a"},"id":"new","version":4}')
  expect(withId('{"type":"session","version":4}', "new")).toBe('{"type":"session","version":4,"id":"new"}')
  expect(withId('{"type":"session","id":"\\u0061"}', "$&")).toBe('{"type":"session","id":"$&"}')
})

test("the number of lines goes into the origin there is, and never becomes less", () => {
  const origin = (line: string) => JSON.parse(line).origin
  expect(origin(withOriginLines(LINE, 7, "was"))).toEqual({ format: "@sessions", version: 4, id: "was", lines: 7 })
  const imported = LINE.replace('"x":', '"origin":{"format":"pi","version":1,"lines":9},"x":')
  expect(origin(withOriginLines(imported, 7, "was"))).toEqual({ format: "pi", version: 1, lines: 9 })
  expect(origin(withOriginLines(imported, 12, "was"))).toEqual({ format: "pi", version: 1, lines: 12 })
})
