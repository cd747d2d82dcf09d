/** What listing again costs in operations on files, and that no change is missed by it. */
import * as fs from "node:fs"
import { join } from "node:path"
import type { ListRow, SessionStorage } from "@sessions/core/storage"
import { expect, onTestFinished, test, vi } from "vitest"
import { fill, makeRoot, openAt } from "./helpers.ts"

test("what was listed before is not read again, as long as its files are the same", async () => {
  const { storage, reads } = await listed()
  reads.length = 0
  expect((await all(storage)).map(({ id }) => id).sort()).toEqual(["a", "b", "c"])
  expect(reads).toEqual([])
})

test("a session that was appended to meanwhile, by whomever, is read again; the others are not", async () => {
  const { root, storage, reads } = await listed()
  const other = openAt(root).storage
  const head = await other.head("b")
  await other.append("b", ["news"], { expect: head ?? 0, info: "told" })
  await other[Symbol.asyncDispose]()
  reads.length = 0
  const found = (await all(storage)).find(({ id }) => id === "b")
  expect(found).toMatchObject({ next: 4, info: { text: "told", next: 4 } })
  expect(reads.filter((path) => path.endsWith("metadata.json"))).toEqual([join(root, "b", "metadata.json")])
})

test("the head of a session that was listed reads its row again only if that is another file", async () => {
  const { root, storage, reads } = await listed()
  const row = (id: string): string => join(root, id, "metadata.json")
  reads.length = 0
  const head = await storage.head("a")
  expect(head?.next).toBe(3)
  expect(reads).not.toContain(row("a"))
  const other = openAt(root).storage
  await other.append("a", ["news"], { expect: head ?? 0, info: "told" })
  await other[Symbol.asyncDispose]()
  expect(await storage.head("a")).toMatchObject({ next: 4, info: { text: "told", next: 4 } })
  // Torn, of another session, and gone.
  fs.truncateSync(row("b"), 50)
  fs.copyFileSync(row("a"), row("c"))
  for (const id of ["b", "c"]) expect(await storage.head(id)).toMatchObject({ next: 3, bytes: head?.bytes })
  expect((await storage.head("c"))?.info).toBeUndefined()
  fs.rmSync(row("a"))
  expect(await storage.head("a")).toMatchObject({ next: 4 })
  expect((await storage.head("a"))?.info).toBeUndefined()
})

test("what was written just before it was listed is read again: it may change within one step of the clock", async () => {
  const { root, storage, reads } = await listed()
  const path = join(root, "a", "metadata.json")
  fs.utimesSync(path, Date.now() / 1000, Date.now() / 1000)
  await all(storage)
  reads.length = 0
  await all(storage)
  expect(reads).toContain(path)
})

test("a session whose row was removed by hand is counted from its log", async () => {
  const { root, storage } = await listed()
  fs.rmSync(join(root, "c", "metadata.json"))
  const found = (await all(storage)).find(({ id }) => id === "c")
  expect(found?.next).toBe(3)
  expect(found?.info).toBeUndefined()
})

test("a row is what its session is when the row comes, however long the listing has been under way", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const ids = Array.from({ length: 40 }, (_, n) => `s${n + 10}`)
  for (const id of ids) await fill(storage, id, 2, 100)
  await storage[Symbol.asyncDispose]()
  for (const [n, id] of ids.entries()) {
    const at = new Date(Date.now() - 3_600_000 + n * 1_000)
    for (const name of fs.readdirSync(join(root, id))) fs.utimesSync(join(root, id, name), at, at)
  }
  const own = openAt(root).storage
  const rows: ListRow[] = []
  for await (const row of own.list()) {
    rows.push(row)
    if (rows.length > 1) continue
    // The two that have stood still for longest come last.
    await own.append("s10", ["own"], { expect: (await own.head("s10")) ?? 0, info: "told" })
    await own.delete("s11")
    await fill(own, "s11", 2, 100)
  }
  for (const id of ["s10", "s11"]) expect(rows.find((row) => row.id === id)).toEqual({ id, ...(await own.head(id)) })
  await own[Symbol.asyncDispose]()
})

/** Three sessions that have stood still for an hour, listed once. */
async function listed(): Promise<{ root: string; storage: SessionStorage; reads: string[] }> {
  const root = makeRoot()
  const writer = openAt(root).storage
  for (const id of ["a", "b", "c"]) await fill(writer, id, 3, 100)
  await writer[Symbol.asyncDispose]()
  // Setting the times of the files would be a change to them.
  const now = Date.now
  vi.spyOn(Date, "now").mockImplementation(() => now() + 3_600_000)
  onTestFinished(() => void vi.restoreAllMocks())
  const { storage, files } = openAt(root)
  const reads: string[] = []
  files.fault = ({ op, path }, proceed) => {
    if (op === "open") reads.push(path)
    return proceed()
  }
  await all(storage)
  return { root, storage, reads }
}

async function all(storage: SessionStorage): Promise<ListRow[]> {
  const found: ListRow[] = []
  for await (const session of storage.list()) found.push(session)
  return found
}

test("a store that was copied is read by one listing, and not by the next", async () => {
  const { root, storage } = await listed()
  await storage[Symbol.asyncDispose]()
  const copy = makeRoot()
  fs.cpSync(root, copy, { recursive: true })
  for (const id of ["a", "b", "c"]) {
    const at = new Date(Date.now() - 60_000)
    for (const name of fs.readdirSync(join(copy, id))) fs.utimesSync(join(copy, id, name), at, at)
  }
  fs.rmSync(join(copy, "c", "metadata.json"))
  const logsRead = async (): Promise<{ rows: ListRow[]; reads: number }> => {
    const { storage, files } = openAt(copy)
    let reads = 0
    files.fault = ({ op, path }, proceed) => {
      if (op === "open" && path.endsWith(".jsonl")) reads++
      return proceed()
    }
    const rows = await all(storage)
    files.fault = undefined
    await storage[Symbol.asyncDispose]()
    return { rows, reads }
  }
  const first = await logsRead()
  expect(first.reads).toBeGreaterThanOrEqual(3)
  const second = await logsRead()
  expect(second).toEqual({ rows: first.rows, reads: 0 })
  const { storage: own } = openAt(copy)
  await fill(own, "d", 1)
  const head = await own.head("a")
  await own.append("a", ["on"], { expect: { next: 3, log: head?.log ?? "" } })
  expect((await all(own)).find(({ id }) => id === "a")).toMatchObject({ next: 4 })
})
