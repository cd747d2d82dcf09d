import { expect, test } from "vitest"
import { suggest } from "./suggest.ts"

const known = ["import", "export", "list", "show", "rename", "rm"]

test("a slip of the finger finds the word that was meant", () => {
  expect(["lsit", "exprot", "imp", "Show", "renam"].map((name) => suggest(name, known))).toEqual([
    "list",
    "export",
    "import",
    "show",
    "rename",
  ])
})

test("a word that is like none gets no suggestion", () => {
  expect(suggest("compactify", known)).toBeUndefined()
})
