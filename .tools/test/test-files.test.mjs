import { expect, test } from "vitest"
import { isTooSlow, testFiles, touchingRuntimes, withLaws, withoutSuite } from "../lib/test-files.mjs"

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

test("a file that registers the suite of the contract is known", () => {
  const some = ["packages/fs/test/damaged-parts.test.ts", "packages/sqlite/test/better-sqlite3.test.ts"]
  expect(withoutSuite(some)).toEqual(some.slice(0, 1))
})

test("a file has laws if it, or one beside it, makes random cases", () => {
  const some = ["packages/core/src/compaction/laws.test.ts", "packages/core/src/function-options.test.ts"]
  expect(withLaws(some)).toEqual(some.slice(0, 1))
})

test("a test of over 2 s of CPU is too slow, unless its file is deep or says why not", () => {
  expect(isTooSlow("packages/core/src/format/ids.test.ts", 2.1)).toBe(true)
  expect(isTooSlow("packages/core/src/format/ids.test.ts", 1.9)).toBe(false)
  expect(isTooSlow("packages/fs/test/large.deep.test.ts", 9)).toBe(false)
  expect(isTooSlow("packages/postgres/test/pglite.test.ts", 4)).toBe(false)
})
