import { expect, test } from "vitest"
import { formatBytes, formatTime } from "../view/format.ts"

test("sizes are in powers of 1,000, with a decimal below ten of a unit, as the command shows them", () => {
  const sizes = [0, 999, 1_000, 9_949, 9_950, 34_000, 999_499, 999_500, 112_000_000, 2_500_000_000]
  expect(sizes.map(formatBytes)).toEqual([
    "0 B",
    "999 B",
    "1.0 kB",
    "9.9 kB",
    "10 kB",
    "34 kB",
    "999 kB",
    "1.0 MB",
    "112 MB",
    "2.5 GB",
  ])
})

test("the time of a log without any date is not known", () => {
  expect(formatTime("1970-01-01T00:00:00.000Z")).toBe("?")
  expect(formatTime("yesterday")).toBe("yesterday")
})
