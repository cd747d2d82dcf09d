import { expect, test } from "vitest"
import { cut, fit, formatAge, formatBytes, formatCount, formatSize, formatTime, table } from "./format.ts"

test("a MB is a million bytes", () => {
  const shown = [0, 999, 1000, 9949, 34_400, 999_499, 999_500, 112_000_000, 2_500_000_000].map(formatBytes)
  expect(shown).toEqual(["0 B", "999 B", "1.0 kB", "9.9 kB", "34 kB", "999 kB", "1.0 MB", "112 MB", "2.5 GB"])
})

test("sizes and counts use singular and plural", () => {
  expect(formatSize(3, 112_000_000)).toBe("3 parts, 112 MB")
  expect(formatSize(1, 12)).toBe("1 part, 12 B")
  expect(formatCount(1200, "line")).toBe("1,200 lines")
})

test("an age has its largest unit, and an old one is a date", () => {
  const now = Date.parse("2026-03-01T12:00:00.000Z")
  const ages = [
    "2026-03-01T11:59:30.000Z",
    "2026-03-01T11:15:00.000Z",
    "2026-03-01T01:00:00Z",
    "2026-02-20T12:00:00Z",
    "2025-11-01T00:00:00Z",
  ]
  expect(ages.map((at) => formatAge(at, now))).toEqual(["now", "45 min", "11 h", "9 d", "2025-11-01"])
  expect(formatAge("2027-01-01T00:00:00Z", now)).toBe("now")
  expect(formatAge("soon", now)).toBe("?")
})

test("the time of a log without any date is not known", () => {
  const none = "1970-01-01T00:00:00.000Z"
  expect(formatAge(none, Date.now())).toBe("?")
  expect(formatTime(none)).toBe("?")
})

test("text that is not a time stays unchanged", () => {
  expect(formatTime("2026-02-16T10:20:30.000Z")).toBe("2026-02-16 10:20")
  expect(formatTime("yesterday")).toBe("yesterday")
})

test("columns are aligned by the sanitized width of their cells", () => {
  const lines = table(
    [
      ["a", "1", "x"],
      ["b\u001b", "22", "yy"],
    ],
    ["left", "right", "left"],
  )
  expect(lines.map((line) => [line].flat(2).join(""))).toEqual(["a    1  x", "b\u001b  22  yy"])
})

test("a line is cut at the last column of the terminal, never inside a character", () => {
  expect([fit(["abc", "defg"], 5)].flat(2).join("")).toBe("abcd…")
  expect(fit("abc", undefined)).toBe("abc")
  expect(cut("a😀b", 3)).toBe("a…")
})
