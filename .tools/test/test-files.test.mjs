import { expect, test } from "vitest"
import { testFiles, touchingRuntimes, withLaws } from "../lib/test-files.mjs"

const files = testFiles()

test("the files are found in every folder that has some, without those that need a browser", () => {
  expect(files).toEqual(
    expect.arrayContaining(["packages/core/src/format/ids.test.ts", ".tools/test/test-files.test.mjs"]),
  )
  expect(files.filter((file) => file.includes("browser.test"))).toEqual([])
})

test("a file touches a runtime if it, or one beside it, imports a module of the runtime", () => {
  const some = [
    "packages/fs/src/storage.test.ts",
    "packages/sqlite/test/damage.test.ts",
    "packages/core/src/format/ids.test.ts",
  ]
  expect(touchingRuntimes(some)).toEqual(some.slice(0, 2))
})

test("a file has laws if it, or one beside it, makes random cases", () => {
  const some = ["packages/core/src/compaction/laws.test.ts", "packages/core/src/function-options.test.ts"]
  expect(withLaws(some)).toEqual(some.slice(0, 1))
})
