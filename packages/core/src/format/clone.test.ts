import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { cloneJson } from "./clone.ts"

/** Every object and array in a value. */
function partsOf(value: unknown, parts: object[] = []): object[] {
  if (typeof value !== "object" || value === null) return parts
  parts.push(value)
  for (const key of Object.keys(value)) partsOf((value as Record<string, unknown>)[key], parts)
  return parts
}

test("a clone is equal, and shares no object or array", () => {
  holds(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
      const clone = cloneJson(value)
      expect(JSON.stringify(clone)).toBe(JSON.stringify(value))
      const parts = new Set(partsOf(value))
      expect(partsOf(clone).filter((part) => parts.has(part))).toEqual([])
    }),
    500,
  )
})

test("a key `__proto__` is an own key, and the prototype stays", () => {
  const value = JSON.parse('{"a":{"__proto__":{"b":[1]},"c":2}}') as { a: object }
  const clone = cloneJson(value)
  expect(JSON.stringify(clone)).toBe(JSON.stringify(value))
  expect(Object.getPrototypeOf(clone.a)).toBe(Object.prototype)
  expect((clone.a as { b?: unknown }).b).toBeUndefined()
})

test("values deeper than recursion can go are cloned", () => {
  for (const [open, close] of [
    ["[", "]"],
    ['{"a":', "}"],
  ] as const) {
    for (const depth of [199, 200, 201, 20_000]) {
      const text = `${open.repeat(depth)}1${close.repeat(depth)}`
      let clone: unknown = cloneJson(JSON.parse(text))
      let levels = 0
      for (; typeof clone === "object"; levels++) clone = Object.values(clone as object)[0]
      expect([levels, clone]).toEqual([depth, 1])
    }
  }
})
