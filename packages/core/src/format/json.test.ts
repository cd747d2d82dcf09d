import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { isSameJson } from "./json.ts"

test("values are the same if and only if their JSON is, with sorted keys", () => {
  const sorted = (value: unknown): string =>
    JSON.stringify(value, (_, inner: unknown) =>
      typeof inner === "object" && inner !== null && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
    )
  const small = fc.oneof(fc.constantFrom(null, 0, 1, "", "a", true), fc.jsonValue({ maxDepth: 3 }))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(small, fc.array(tie("any"), { maxLength: 3 }), fc.dictionary(fc.constantFrom("a", "b"), tie("any"))),
  })).any
  holds(
    fc.property(value, value, (a, b) => {
      const [one, other] = [a, b].map((each) => JSON.parse(JSON.stringify(each)) as unknown)
      expect(isSameJson(one, other)).toBe(sorted(one) === sorted(other))
      expect(isSameJson(one, JSON.parse(sorted(one)))).toBe(true)
    }),
    40,
  )
})

test("depth is not limited by the stack", () => {
  const deep = (leaf: string): unknown => JSON.parse("[".repeat(100_000) + leaf + "]".repeat(100_000))
  expect(isSameJson(deep("1"), deep("1"))).toBe(true)
  expect(isSameJson(deep("1"), deep("2"))).toBe(false)
})
