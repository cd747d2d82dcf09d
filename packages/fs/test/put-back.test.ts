/** What somebody put back, copied or moved while a storage was open: nothing appended after it is lost, nothing told is old. */
import * as fs from "node:fs"
import { join } from "node:path"
import type { Head, HeadInfo, ListRow, SessionStorage } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { chunked, filesBelow, fill, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

test.each([
  ["was copied", (root: string) => copy(join(root, "a"), join(root, ".aside"))],
  ["was moved away", (root: string) => fs.renameSync(join(root, "a"), join(root, ".aside"))],
])("what is appended after a folder that %s was put back is in the folder", async (_, take) => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const head = await fill(storage, "a", 3)
  await quiet(root)
  take(root)
  fs.rmSync(join(root, "a"), { recursive: true, force: true })
  copy(join(root, ".aside"), join(root, "a"))

  await storage.append("a", [lineAt(3)], { expect: head })
  expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(4))
})

test("a writer whose log was replaced by an older copy writes nothing into that copy's folder", async () => {
  const root = makeRoot()
  const [one, two] = [openAt(root).storage, openAt(root).storage]
  await one.append("a", ["y".repeat(80), "y".repeat(80)], { expect: 0, info: "of the copy" })
  await one[Symbol.asyncDispose]()
  copy(join(root, "a"), join(root, ".aside"))
  const old = (await two.head("a")) as HeadInfo
  const head = await two.replace?.("a", chunked(["one", "y".repeat(80), "three"]), {
    expect: { next: old.next, log: old.log },
  })
  await two.append("a", ["four"], { expect: head as Head })
  fs.rmSync(join(root, "a"), { recursive: true })
  copy(join(root, ".aside"), join(root, "a"))
  const files = filesBelow(join(root, "a"))

  await two[Symbol.asyncDispose]()
  expect(filesBelow(join(root, "a"))).toEqual(files)
  const { storage } = openAt(root)
  expect(await storage.head("a")).toMatchObject({ next: 2, log: old.log, info: { text: "of the copy" } })
  expect(await linesOf(storage, "a")).toEqual(["y".repeat(80), "y".repeat(80)])
})

test("the information of another writer's later append is given, also by one that knows older information", async () => {
  const root = makeRoot()
  const [one, two] = [openAt(root).storage, openAt(root).storage]
  const first = await one.append("a", ["1"], { expect: 0, info: "of one" })
  await quiet(root)
  await two.append("a", ["2"], { expect: first, info: "of two" })
  await quiet(root)
  const info = { text: "of two", next: 2 }
  expect(await one.head("a")).toMatchObject({ next: 2, info })
  expect(await rowOf(one)).toMatchObject({ next: 2, info })
})

test("a listing does not go by metadata.json where the log went on in a part that it does not know", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { maxPartBytes: 20_000 })
  const path = join(root, "a", "metadata.json")
  let head = await fill(storage, "a", 19, 1_000)
  await quiet(root)
  const early = fs.readFileSync(path)
  for (let seq = 19; seq < 22; seq++) head = await storage.append("a", [lineAt(seq, 1_000)], { expect: head })
  await storage[Symbol.asyncDispose]()
  expect(fs.existsSync(join(root, "a", "session_part2.19.jsonl"))).toBe(true)
  fs.writeFileSync(path, early)
  expect(await rowOf(openAt(root).storage)).toMatchObject({ next: 22 })
})

test("a listing does not go by the metadata.json of another log, though its last part has the same size", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await storage.append("a", ["1", "2", "3", "4"], { expect: 0, info: "old" })
  await quiet(root)
  const old = fs.readFileSync(join(root, "a", "metadata.json"))
  await storage.delete("a")
  const head = await storage.append("a", ["one", "two"], { expect: 0 })
  await storage[Symbol.asyncDispose]()
  fs.writeFileSync(join(root, "a", "metadata.json"), old)
  const again = openAt(root).storage
  expect(await again.head("a")).toMatchObject(head)
  expect(await rowOf(again)).toEqual({ id: "a", ...(await again.head("a")) })
})

test("a listing does not go by the metadata.json of a log whose `log.id` or last part was put back", async () => {
  for (const name of ["log.id", "session.jsonl"]) {
    const root = makeRoot()
    const { storage } = openAt(root)
    await storage.append("a", ["1", "2", "3", "4"], { expect: 0 })
    await storage[Symbol.asyncDispose]()
    const changed = name === "log.id" ? "another\n" : "one\ntwo\n"
    fs.writeFileSync(join(root, ".changed"), changed)
    fs.renameSync(join(root, ".changed"), join(root, "a", name))
    const again = openAt(root).storage
    expect(await again.head("a")).toMatchObject(name === "log.id" ? { log: "another" } : { next: 2 })
    expect(await rowOf(again)).toEqual({ id: "a", ...(await again.head("a")) })
  }
})

test("information of lines that a log which was put back does not have is given by no listing", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const head = await storage.append("a", ["1"], { expect: 0 })
  await storage.append("a", ["2"], { expect: head, info: "of both" })
  await storage[Symbol.asyncDispose]()
  fs.truncateSync(join(root, "a", "session.jsonl"), 2)
  const again = openAt(root).storage
  expect(await again.head("a")).not.toHaveProperty("info")
  expect(await rowOf(again)).toMatchObject({ next: 1 })
  expect(await rowOf(again)).not.toHaveProperty("info")
})

test("a part that has ended and was changed in place is read by the lines that it has now", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { maxPartBytes: 2_000 })
  await fill(storage, "a", 5, 1_000)
  const path = join(root, "a", "session.jsonl")
  expect(await linesOf(storage, "a", { from: 0, to: 1 })).toEqual(linesTo(1, 1_000))
  await linesOf(storage, "a")
  fs.writeFileSync(path, `longer${fs.readFileSync(path, "utf8")}`)
  const expected = [`longer${lineAt(0, 1_000)}`, ...linesTo(5, 1_000).slice(1)]
  expect(await linesOf(storage, "a")).toEqual(expected)
  expect(await linesOf(storage, "a", { from: 0, to: 1 })).toEqual(expected.slice(0, 1))
  expect(await storage.head("a")).toEqual(await openAt(root).storage.head("a"))
})

/** Waits until whoever wrote last has given back the lock, and written what follows the log. */
async function quiet(root: string): Promise<void> {
  const locks = join(root, ".locks")
  await expect.poll(() => fs.readdirSync(locks).filter((name) => name.endsWith(".lock"))).toEqual([])
}

function copy(from: string, to: string): void {
  fs.cpSync(from, to, { recursive: true, preserveTimestamps: true })
}

async function rowOf(storage: SessionStorage): Promise<ListRow | HeadInfo | undefined> {
  for await (const row of storage.list()) return row
  return undefined
}
