import { expect, test } from "vitest"
import { cellsOf, matrixTable } from "../lib/matrix.mjs"
import { differences, inReadme } from "./matrix.mjs"

const counts = {
  memory: { node: { passed: 140, failed: 0, skipped: 12 }, chromium: { passed: 139, failed: 1, skipped: 12 } },
  fs: { node: { passed: 150, failed: 0, skipped: 0 } },
}

test("the matrix has a row for each adapter and a column for each runtime with results", () => {
  expect(matrixTable(counts).split("\n")).toEqual([
    "|  | Node 26 | Chromium |",
    "| --- | --- | --- |",
    "| `fs` | 150 |  |",
    "| `memory` | 140 (12) | 139 **1 failed** (12) |",
  ])
})

test("the matrix is written between its markers and nowhere else", () => {
  const begin = "<!-- conformance: written by `pnpm test:conformance --readme` -->"
  const readme = `before\n${begin}\n\nold\n\n<!-- /conformance -->\nafter\n`
  const written = inReadme(readme, "new")
  expect(written).toBe(readme.replace("old", "new"))
  expect(inReadme(written, "new")).toBe(written)
  expect(() => inReadme("no marks", "new")).toThrow(/lacks the markers/)
})

test("a cell that differs is named, in the columns that are compared alone", () => {
  const written = cellsOf(matrixTable(counts))
  const found = cellsOf(matrixTable({ ...counts, memory: { node: { passed: 139, failed: 0, skipped: 12 } } }))
  expect(differences(written, written, ["Node 26", "Chromium"])).toEqual([])
  expect(differences(written, found, ["Node 26"])).toEqual(["`memory`, Node 26: 140 (12) should be 139 (12)"])
  expect(differences(written, found, ["Chromium"])).toEqual([
    "`memory`, Chromium: 139 **1 failed** (12) should be empty",
  ])
})
