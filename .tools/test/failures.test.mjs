import { expect, test } from "vitest"
import { problemOf, tableOf, tables } from "../failures.mjs"

test("a code that asks for a repeat of what never passes, or only after an act, is a problem; so is the reverse", () => {
  const row = { when: "X", passes: "never", code: "unsupported", act: "choose another" }
  expect(problemOf(row)).toBeUndefined()
  for (const wrong of [
    { code: "unavailable" },
    { passes: "after", code: "unavailable" },
    { passes: "by itself" },
    { passes: "soon" },
  ])
    expect(problemOf({ ...row, ...wrong })).toMatch(/^X: /)
  expect(problemOf({ ...row, act: "repeat the call" })).toMatch(/asks for a repeat/)
})

test("each table has rows, all of them without a problem and each once", async () => {
  const all = await tables()
  expect(all.length).toBeGreaterThanOrEqual(4)
  for (const [name, rows] of all) {
    expect(
      rows.flatMap((row) => problemOf(row) ?? []),
      name,
    ).toEqual([])
    expect(new Set(rows.map(({ when }) => when)).size, name).toBe(rows.length)
  }
})

test("rows that say the same are one row of the page", () => {
  const rows = ["A", "B"].map((when) => ({ when, passes: "after", code: "quota", act: "make room" }))
  expect(tableOf(rows)).toContain("| `A`, `B` | after this | `quota` | make room |")
})
