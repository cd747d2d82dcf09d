import { expect, test } from "vitest"
import { matrixTable } from "../lib/matrix.mjs"
import { inReadme } from "./matrix.mjs"

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
