import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { compare, parseCursor } from "./list-order.ts"

const LAST = 8.64e15
const time = fc.oneof(
  fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2026, 0, 1) + 20 }),
  // Years before 0 and beyond 9999 have other texts, which do not sort by time.
  fc.integer({ min: -LAST, max: LAST }),
)
const place = fc
  .record({ at: time, id: fc.constantFrom("a", "b", "c") })
  .map(({ at, id }) => ({ at, lastMessageAt: new Date(at).toISOString(), id }))

test("places are ordered by time, the newest first, then by id, the greatest first", () => {
  holds(
    fc.property(place, place, (a, b) => {
      const byId = a.id === b.id ? 0 : a.id > b.id ? -1 : 1
      expect(Math.sign(compare(a, b))).toBe(a.at === b.at ? byId : Math.sign(b.at - a.at))
    }),
  )
})

test("the time of a cursor may be written in any way", () => {
  const at = parseCursor("2026-01-31T10:30:00.5+01:00/s1")
  expect(at).toEqual({ lastMessageAt: "2026-01-31T09:30:00.500Z", id: "s1" })
})
