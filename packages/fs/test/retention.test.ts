/** Pruning and collecting in a process that is killed; and what a sweep removes. */
import * as fs from "node:fs"
import { join } from "node:path"
import { collectBlobs } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import { fill, makeRoot, openAt } from "./helpers.ts"
import { killedPruneTest } from "./killed-prune.ts"

killedPruneTest([7])

const uuid = (n: number): string => `0000000${n}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`

test("what other programs keep in the folder stays, whatever is collected, swept or deleted, however old it is", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await fill(storage, "a", 2)
  await fill(storage, "b", 2)
  const others = [
    ".trash/note.md",
    ".trash/a~old/note.md",
    ".new/report.txt",
    ".new/a~1",
    ".docs/.tmp-mine",
    "a/.tmp-mine",
    "notes/.tmp-1",
    `.git/.tmp-${uuid(1)}`,
    `Project/.tmp-${uuid(2)}`,
    "README.md",
    ".blobs/2a/other",
    ".blobs/x",
  ]
  for (const path of others) {
    fs.mkdirSync(join(root, path, ".."), { recursive: true })
    fs.writeFileSync(join(root, path), "theirs")
    fs.utimesSync(join(root, path), new Date(0), new Date(0))
  }
  await storage.delete("b")
  await collectBlobs(storage)
  expect(await storage.sweep?.({ dryRun: true })).toMatchObject({ removed: 0 })
  expect(await storage.sweep?.()).toMatchObject({ removed: 0 })
  await storage[Symbol.asyncDispose]()
  // Opening a root for writing empties the trash, too.
  const { storage: again } = openAt(root)
  await fill(again, "c", 1)
  await again[Symbol.asyncDispose]()
  expect(others.filter((path) => !fs.existsSync(join(root, path)))).toEqual([])
})

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
  const gone = [put(`.trash/b~${uuid(1)}/x`, false), put(`.new/${uuid(2)}`, true), put(`a/.tmp-${uuid(3)}`, true)]
  const kept = [put(`.new/${uuid(4)}`, false), put(`a/.tmp-${uuid(5)}`, false), put(".new/c.swap/session.jsonl", true)]
  fs.utimesSync(join(root, ".new/c.swap"), new Date(0), new Date(0))
  expect(await storage.sweep?.({ dryRun: true })).toEqual({ removed: 3, bytes: 15, left: 0 })
  expect([...gone, ...kept].map((path) => fs.existsSync(path))).toEqual([true, true, true, true, true, true])
  expect(await storage.sweep?.()).toEqual({ removed: 3, bytes: 15, left: 0 })
  expect([...gone, ...kept].map((path) => fs.existsSync(path))).toEqual([false, false, false, true, true, true])
})
