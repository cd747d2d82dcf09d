/** A file that another connection has locked. */
import { expect, test } from "vitest"
import { openDatabase } from "../src/driver/library.ts"
import { connectTo, fill, linesOf, linesTo, newPath, openAt } from "./helpers.ts"

test("while another connection writes, reads go on, writes wait in their order, and the event loop is free", async () => {
  const path = newPath()
  const storage = openAt(path)
  const head = await fill(storage, "a", 2)
  const other = connectTo(path)
  other.exec("BEGIN IMMEDIATE")
  const first = storage.append("a", ["first"], { expect: head })
  const second = storage.append("a", ["second"], { expect: { next: 3, log: head.log } })
  const document = storage.docs.put("x", "{}", { expect: null })
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await expect.poll(() => turns).toBeGreaterThan(20)
  clearInterval(timer)
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
  other.exec("ROLLBACK")
  expect(await Promise.all([first, second])).toMatchObject([{ next: 3 }, { next: 4 }])
  await document
  expect(await linesOf(storage, "a")).toEqual([...linesTo(2), "first", "second"])
})

test("a write to a file that stays locked is `unavailable`, nothing is written, and the next one works", async () => {
  const path = newPath()
  const storage = openAt(path, { lockTimeout: 50 })
  const head = await fill(storage, "a", 2)
  const other = connectTo(path)
  other.exec("BEGIN IMMEDIATE")
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringMatching(/Another connection has locked .*sessions\.db for 50 ms/) as string,
  })
  other.exec("ROLLBACK")
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
  expect(await storage.append("a", ["x"], { expect: head })).toMatchObject({ next: 3 })
})

test("a read of a file that another connection has for itself waits for it", async () => {
  const path = newPath()
  const first = openAt(path)
  await fill(first, "a", 2)
  await first[Symbol.asyncDispose]()
  const other = openDatabase(path)
  const storage = openAt(path)
  other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE session SET id = id")
  const reading = linesOf(storage, "a")
  setTimeout(() => other.close(), 20)
  expect(await reading).toEqual(linesTo(2))
})

test("a signal withdraws an append that waits for the lock", async () => {
  const path = newPath()
  const storage = openAt(path)
  const head = await fill(storage, "a", 2)
  const other = connectTo(path)
  other.exec("BEGIN IMMEDIATE")
  const controller = new AbortController()
  const appending = storage.append("a", ["x"], { expect: head, signal: controller.signal })
  setTimeout(() => controller.abort(), 20)
  const error: unknown = await appending.catch((one: unknown) => one)
  expect(error).toMatchObject({ code: "aborted" })
  expect(error).not.toHaveProperty("sent")
  other.exec("ROLLBACK")
  await storage.append("a", ["y"], { expect: head })
  expect(await linesOf(storage, "a")).toEqual([...linesTo(2), "y"])
})
