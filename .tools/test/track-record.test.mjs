import { expect, test } from "vitest"
import { toPage } from "../track-record/page.mjs"
import { parseRow, readRows } from "../track-record/row.mjs"

const HEAD = "Defect: `a | b` was lost\nFound by: a test\nRule: it stays\n"
const PATCH = "diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1,2 +1,2 @@\n context\n-Fix: kept\n+Fix: lost\n"

test("a row has its fields, and a patch for each proof but a mutant", () => {
  const text = `${HEAD}Test: x.test.ts > keeps it\n${PATCH}\nCommand: pnpm x\nPrints: lost it\n${PATCH}Mutant: loses it\n`
  const { defect, foundBy, rule, proofs } = parseRow("x", text)
  expect({ defect, foundBy, rule }).toEqual({ defect: "`a | b` was lost", foundBy: "a test", rule: "it stays" })
  expect(proofs).toMatchObject([
    { kind: "Test", text: "x.test.ts > keeps it" },
    { kind: "Command", text: "pnpm x", prints: "lost it" },
    { kind: "Mutant", text: "loses it" },
  ])
  expect(proofs.map(({ patch }) => patch.trim())).toEqual([PATCH.trim(), PATCH.trim(), ""])
})

test.each([
  ["no rule", "Defect: a\nFound by: b\nMutant: c\n", "lacks Rule"],
  ["no proof", HEAD, "lacks a proof"],
  ["a test without a name", `${HEAD}Test: x.test.ts\n${PATCH}`, "FILE > NAME"],
  ["a test without a patch", `${HEAD}Test: x.test.ts > a\n`, "has a patch"],
  ["a command that says nothing of its failure", `${HEAD}Command: x\n${PATCH}`, "Prints"],
  ["an unknown field", `${HEAD}Tset: x.test.ts > a\n`, "belongs to no field"],
])("a row with %s is refused", (_, text, message) => {
  expect(() => parseRow("x", text)).toThrow(message)
})

test("the page has a line for each row, whose cells have no bar", () => {
  const rows = readRows()
  const lines = toPage(rows)
    .split("\n")
    .filter((line) => line.startsWith("| "))
  expect(lines).toHaveLength(rows.length + 2)
  for (const line of lines) expect(line.match(/(?<!\\)\|/g)).toHaveLength(6)
})
