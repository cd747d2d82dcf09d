/** Pruning and collecting in a process that is killed; and what a sweep removes. */
import * as fs from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { fill, makeRoot, openAt } from "./helpers.ts"
import { killedPruneTest } from "./killed-prune.ts"

killedPruneTest([7])

test("a sweep removes the trash at once, unfinished files after a day, and leaves an interrupted swap; a dry run removes nothing", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await fill(storage, "a", 2)
  await new Promise((resolve) => setImmediate(resolve))
  const put = (path: string, isOld: boolean): string => {
    fs.mkdirSync(join(root, path, ".."), { recursive: true })
    fs.writeFileSync(join(root, path), "12345")
    if (isOld) fs.utimesSync(join(root, path), new Date(0), new Date(0))
    return join(root, path)
  }
  const gone = [put(".trash/b~1/session.jsonl", false), put(".new/old", true), put("a/.tmp-1", true)]
  const kept = [put(".new/young", false), put("a/.tmp-2", false), put(".new/c.swap/session.jsonl", true)]
  fs.utimesSync(join(root, ".new/c.swap"), new Date(0), new Date(0))
  expect(await storage.sweep?.({ dryRun: true })).toEqual({ removed: 3, bytes: 15, left: 0 })
  expect([...gone, ...kept].map((path) => fs.existsSync(path))).toEqual([true, true, true, true, true, true])
  expect(await storage.sweep?.()).toEqual({ removed: 3, bytes: 15, left: 0 })
  expect([...gone, ...kept].map((path) => fs.existsSync(path))).toEqual([false, false, false, true, true, true])
})
