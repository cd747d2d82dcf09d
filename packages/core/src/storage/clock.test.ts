import * as fc from "fast-check"
import { expect, test } from "vitest"
import { isBefore, toTime } from "./clock.ts"

const anyTime = fc.date({ noInvalidDate: true }).map((date) => date.toISOString())

test.each([
  "2026-02-28T23:59:59.999Z",
  "2026-02-30T00:00:00.000Z",
  "2026-04-31T00:00:00.000Z",
  "2026-13-01T00:00:00.000Z",
  "2026-01-00T00:00:00.000Z",
  "2026-01-01T24:00:00.000Z",
  "2026-01-01T25:00:00.000Z",
  "2026-01-01T00:00:60.000Z",
  "0000-01-01T00:00:00.000Z",
  "+010000-01-01T00:00:00.000Z",
  "2026-01-01T00:00:00Z",
  "2026-01-01",
  "2026-01-01T00:00:00.000Z\n",
  "soon",
])("%s is a time if the runtime says so, in its form", (text) => {
  const at = Date.parse(text)
  expect(toTime(text)).toBe(Number.isNaN(at) ? undefined : new Date(at).toISOString())
})

test("times are before each other as their numbers are, whatever their years", () => {
  fc.assert(
    fc.property(anyTime, anyTime, (one, other) => {
      expect(toTime(one)).toBe(one)
      expect(isBefore(one, other)).toBe(Date.parse(one) < Date.parse(other))
    }),
    { numRuns: 200 },
  )
})
