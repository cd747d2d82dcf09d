import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { json, key } from "../../test/records.ts"
import { getAt, pathOf, pointerOf, setAt } from "./pointer.ts"

test("pointers are those of RFC 6901", () => {
  const root = { foo: ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "~1": 9 }
  for (const [pointer, value] of [
    ["", root],
    ["/foo", root.foo],
    ["/foo/0", "bar"],
    ["/", 0],
    ["/a~1b", 1],
    ["/m~0n", 8],
    ["/~01", 9],
  ] as const) {
    expect(getAt(root, pointer)).toEqual(value)
  }
})

test("every path has its own pointer", () => {
  holds(
    fc.property(fc.array(key), (path) => {
      expect(pathOf(pointerOf(path))).toEqual(path)
    }),
  )
})

test("a text that is not a pointer, and a pointer to a missing value, give undefined", () => {
  for (const pointer of ["foo", "/foo/2", "/foo/00", "/foo/-", "/foo/length", "/~", "/~2", "/toString", "/__proto__"]) {
    expect(getAt({ foo: ["bar"], "~": 1, "~2": 1 }, pointer)).toBeUndefined()
  }
})

test("a value is set at any key, __proto__ too, in a copy that keeps the order of keys", () => {
  const root = JSON.parse('{"z":{"__proto__":{"a/b":["x","y"]}},"a":{"kept":1}}') as { z: object; a: object }
  const before = JSON.stringify(root)
  const set = setAt(root, new Map([["/z/__proto__/a~1b/1", "new"]]))
  expect(JSON.stringify(set)).toBe('{"z":{"__proto__":{"a/b":["x","new"]}},"a":{"kept":1}}')
  expect(JSON.stringify(root)).toBe(before)
  expect(set.a).toBe(root.a)
})

test("setting each pointer to its own value changes nothing", () => {
  holds(
    fc.property(json, (root) => {
      const places = pointersOf(root)
      const set = setAt(root, new Map(places.map((pointer) => [pointer, getAt(root, pointer)])))
      expect(JSON.stringify(set)).toBe(JSON.stringify(root))
    }),
  )
})

test("pointers to missing values change nothing", () => {
  const root = { a: ["x"] }
  expect(
    setAt(
      root,
      new Map([
        ["/b/c", 1],
        ["/a/1", 1],
        ["a", 1],
      ]),
    ),
  ).toBe(root)
})

/** Pointers to everything below a value that is no object, in order. */
function pointersOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== "object" || value === null) return [pointerOf(path)]
  return Object.entries(value).flatMap(([name, inner]) => pointersOf(inner, [...path, name]))
}
