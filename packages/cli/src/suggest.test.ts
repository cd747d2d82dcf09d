import { expect, test } from "vitest"
import { suggest } from "./suggest.ts"

const known = ["import", "export", "list", "show", "rename", "rm"]

test("a typing error gets the intended word", () => {
  expect(["lsit", "exprot", "imp", "Show", "renam"].map((name) => suggest(name, known))).toEqual([
    "list",
    "export",
    "import",
    "show",
    "rename",
  ])
})

test("a word that resembles no known one gets no suggestion", () => {
  expect(suggest("compactify", known)).toBeUndefined()
})
