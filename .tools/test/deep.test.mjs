import { expect, test } from "vitest"
import { partOf, scaleFor } from "./deep.mjs"
import { steps } from "./steps.mjs"

const some = [
  { name: "a", minutes: 10 },
  { name: "b", minutes: 60, isSearch: true },
  { name: "c", minutes: 20 },
  { name: "d", minutes: 40, isSearch: true },
]
const names = (list) => list.map(({ name }) => name)

test("the parts of a deep run have every step once, in its order", () => {
  for (const parts of [1, 2, 3, 7, 200]) {
    const all = Array.from({ length: parts }, (_, n) => names(partOf(steps, { part: n + 1, parts })))
    expect(all.flat()).toHaveLength(steps.length)
    expect(new Set(all.flat())).toEqual(new Set(names(steps)))
    for (const part of all) expect(part).toEqual(names(steps).filter((name) => part.includes(name)))
  }
})

test("the parts of a deep run are about as long as each other", () => {
  expect(names(partOf(some, { part: 1, parts: 2 }))).toEqual(["a", "b"])
  expect(names(partOf(some, { part: 2, parts: 2 }))).toEqual(["c", "d"])
})

test("with less time the searches make fewer rounds, and with more never more than all", () => {
  expect(scaleFor(some, 80)).toBe(0.5)
  expect(scaleFor(some, 10)).toBe(0)
  expect(scaleFor(some, 1_000)).toBe(1)
  expect(scaleFor(some, Number.POSITIVE_INFINITY)).toBe(1)
  expect(scaleFor([some[0]], 1)).toBe(1)
})

test("each step has a name of its own", () => {
  expect(new Set(names(steps)).size).toBe(steps.length)
})
