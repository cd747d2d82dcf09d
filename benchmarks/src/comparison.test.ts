import { expect, test } from "vitest"
import { compared, comparisonTable } from "./comparison.ts"
import type { Result } from "./report.ts"

const runs = (unit: string, ...values: number[]): Result[] =>
  values.map((value) => ({ id: "a", runtime: "node 26.10.0", value, unit, spread: [value, value], rounds: 3 }))

test("a row has the medians and spreads of its runs", () => {
  expect(compared(runs("ms", 10, 12, 11), runs("ms", 20, 19, 22))).toEqual({
    id: "a",
    unit: "ms",
    before: { value: 11, spread: [10, 12] },
    after: { value: 20, spread: [19, 22] },
    verdict: "slower",
  })
})

test("medians that differ by at most 5 % are the same", () => {
  expect(compared(runs("ms", 100, 100, 100), runs("ms", 105, 105, 105)).verdict).toBe("same")
  expect(compared(runs("ms", 100, 100, 100), runs("ms", 106, 106, 106)).verdict).toBe("slower")
  expect(compared(runs("ms", 100, 100, 100), runs("ms", 94, 94, 94)).verdict).toBe("faster")
})

test("medians that differ by no more than a spread are the same", () => {
  expect(compared(runs("ms", 90, 100, 110), runs("ms", 120, 120, 120)).verdict).toBe("same")
  expect(compared(runs("ms", 100, 100, 100), runs("ms", 110, 120, 130)).verdict).toBe("same")
  expect(compared(runs("ms", 90, 100, 110), runs("ms", 121, 121, 121)).verdict).toBe("slower")
})

test("a higher rate is faster", () => {
  expect(compared(runs("lines/s", 100, 100, 100), runs("lines/s", 120, 120, 120)).verdict).toBe("faster")
  expect(compared(runs("lines/s", 100, 100, 100), runs("lines/s", 80, 80, 80)).verdict).toBe("slower")
})

test("the table marks the rows that differ", () => {
  const rows = [compared(runs("ms", 1, 1, 1), runs("ms", 1, 1, 1)), compared(runs("ms", 1, 1, 1), runs("ms", 2, 2, 2))]
  const [, same, slower] = comparisonTable(rows).split("\n")
  expect(same).toMatch(/0\.0 %$/)
  expect(slower).toMatch(/100\.0 % +slower$/)
})
