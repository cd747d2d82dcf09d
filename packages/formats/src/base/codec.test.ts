import * as fc from "fast-check"
import { expect, test } from "vitest"
import { difference, patched } from "./codec.ts"
import { runs } from "../../../../.config/runs.ts"

const json = fc.jsonValue({ maxDepth: 4 })

test("the difference of two JSON values turns the one into the other", () => {
  fc.assert(
    fc.property(json, json, (from, to) => {
      const patch = difference(from, to)
      expect(patched(from, patch ?? {})).toEqual(to)
    }),
    { numRuns: runs(500) },
  )
})

test("values that differ in one field have a difference of that field", () => {
  const from = { a: 1, deep: { list: [{ x: 1 }, { y: 2 }] }, extra: true }
  const to = { a: 1, deep: { list: [{ x: 1 }, { y: 2, z: 3 }] } }
  expect(difference(from, to)).toEqual({
    in: { deep: { in: { list: { in: { 1: { set: { z: 3 } } } } } } },
    drop: ["extra"],
  })
  expect(difference(from, structuredClone(from))).toBeUndefined()
})

test("a field named __proto__ is a field", () => {
  const to = JSON.parse('{"a":{"__proto__":{"x":1},"b":2}}') as unknown
  const back = patched({ a: { b: 1 } }, difference({ a: { b: 1 } }, to) ?? {})
  expect(JSON.stringify(back)).toBe('{"a":{"b":2,"__proto__":{"x":1}}}')
})

test("values nested deeper than the stack are compared", () => {
  const deep = (end: number) => JSON.parse(`${"[".repeat(50_000)}${end}${"]".repeat(50_000)}`) as unknown
  expect(patched(deep(1), difference(deep(1), deep(1)) ?? {})).toBeDefined()
})
