/** better-sqlite3, given as `open`: the conformance suite, and the errors of its own. */
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { register } from "@sessions/conformance"
import Database from "better-sqlite3"
import { expect, test } from "vitest"
import { connectTo, fill, linesOf, linesTo, newPath, openAt } from "./helpers.ts"
import { createSubject } from "./subject.ts"

const open = (path: string) => new Database(path)

register(test, createSubject("better-sqlite3", { durability: "os", open, maxBatchBytes: 4_000_000 }), {
  sizes: { sessions: 50, race: 8 },
})

test("better-sqlite3: a folder that does not exist is `misconfigured`", async () => {
  const storage = openAt(join(dirname(newPath()), "missing", "sessions.db"), { open })
  await expect(storage.head("a")).rejects.toMatchObject({
    code: "misconfigured",
    message: expect.stringContaining("Is its folder there") as string,
  })
})

test("better-sqlite3: a file that is no database is `corrupt`", async () => {
  const path = newPath()
  writeFileSync(path, "These are notes. ".repeat(1000))
  await expect(openAt(path, { open }).head("a")).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining("The file is no SQLite database") as string,
  })
})

test("better-sqlite3: a file that stays locked is `unavailable`, and the next append works", async () => {
  const path = newPath()
  const storage = openAt(path, { open, lockTimeout: 50 })
  const head = await fill(storage, "a", 2)
  const other = connectTo(path, open)
  other.exec("BEGIN IMMEDIATE")
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("for 50 ms") as string,
  })
  other.exec("ROLLBACK")
  await storage.append("a", ["x"], { expect: head })
  expect(await linesOf(storage, "a")).toEqual([...linesTo(2), "x"])
})

test("better-sqlite3: a file that may only be read is read, and a write to it is `misconfigured`", async () => {
  const path = newPath()
  const head = await fill(openAt(path, { open }), "a", 2)
  const storage = openAt(path, { open: (name) => new Database(name, { readonly: true }) })
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({
    code: "misconfigured",
    message: expect.stringContaining("read-only") as string,
  })
})
