import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createFileStorage } from "@sessions/fs"
import { expect, test } from "vitest"
import { openStorage, takeCounts } from "../../s3/test/open-storage.ts"
import { costsOn, documentedCosts } from "./costs.ts"

test("the appends that calls take on files are those of the docs", async () => {
  const root = mkdtempSync(join(tmpdir(), "sessions-tool-calls-"))
  const files = createFileStorage({ root })
  let appends = 0
  const storage: typeof files = {
    ...files,
    append(...args) {
      appends++
      return files.append(...args)
    },
  }
  const take = () => {
    const count = appends
    appends = 0
    return count
  }
  expect(await costsOn({ storage, take })).toEqual(documentedCosts("files: appends"))
  await files[Symbol.asyncDispose]()
  rmSync(root, { recursive: true })
})

test("the requests that calls take on S3 are those of the docs", async () => {
  const { storage, store } = openStorage()
  const take = () => Object.values(takeCounts(store)).reduce((sum, times) => sum + times, 0)
  expect(await costsOn({ storage, take })).toEqual(documentedCosts("S3: requests"))
  await storage[Symbol.asyncDispose]()
})
