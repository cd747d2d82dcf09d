import * as fs from "node:fs"
import { join } from "node:path"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { createFileStorage } from "../src/index.ts"
import { countReads } from "./counted-reads.ts"
import { chunked, fill, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

test("the end of a large log is read in about what its lines need, and its head in one interval between marks", async () => {
  const root = makeRoot()
  const writer = openAt(root, { maxPartBytes: 6_000_000 })
  await fill(writer.storage, "a", 10_000, 1_500)
  await writer.storage[Symbol.asyncDispose]()
  const counted = countReads()
  const storage = createFileStorage({ root, files: counted.files, maxPartBytes: 6_000_000 })
  expect(await storage.head("a")).toMatchObject({ next: 10_000 })
  expect(counted.take()).toBeLessThan(400_000)
  expect(await linesOf(storage, "a", { maxBytes: 31_000 })).toEqual(linesTo(10_000, 1_500).slice(-20))
  expect(counted.take()).toBeLessThan(200_000)
  expect(await linesOf(storage, "a", { from: 0, to: 1 })).toEqual([lineAt(0, 1_500)])
  expect(counted.take()).toBeLessThan(50_000)
  expect(await linesOf(storage, "a", { maxBytes: 31_000, before: 5_000 })).toEqual(linesTo(5_000, 1_500).slice(-20))
  expect(counted.take()).toBeLessThan(600_000)
  await storage[Symbol.asyncDispose]()
})

test("a log that is read backwards window by window is read about twice, not anew for each window", async () => {
  const root = makeRoot()
  const writer = openAt(root)
  await fill(writer.storage, "a", 2_000, 1_500)
  await writer.storage[Symbol.asyncDispose]()
  // Of a file that was written just now nobody can tell whether it changed again, so its end is counted each time.
  fs.utimesSync(join(root, "a", "session.jsonl"), 1_000_000, 1_000_000)
  const counted = countReads()
  const storage = createFileStorage({ root, files: counted.files })
  expect(await storage.head("a")).toMatchObject({ next: 2_000 })
  counted.take()
  const lines: string[] = []
  let before = 2_000
  while (before > 1_500) {
    const window = await linesOf(storage, "a", { maxBytes: 31_000, before })
    lines.unshift(...window)
    before -= window.length
  }
  expect(lines).toEqual(linesTo(2_000, 1_500).slice(before))
  expect(counted.take()).toBeLessThan(3_000_000)
  await storage[Symbol.asyncDispose]()
})

test("a listing opens no log whose row is up to date", async () => {
  const root = makeRoot()
  const writer = openAt(root, { maxPartBytes: 2_000 }).storage
  for (let i = 0; i < 20; i++) {
    const head = await fill(writer, `s${i}`, 1 + (i % 3) * 40)
    await writer.append(`s${i}`, ["last"], { expect: head, info: `info ${i}` })
  }
  await writer[Symbol.asyncDispose]()
  const { storage, files } = openAt(root)
  const opened: string[] = []
  files.fault = ({ op, path }, proceed) => {
    if (op === "open" && path.endsWith(".jsonl")) opened.push(path)
    return proceed()
  }
  const rows = []
  for await (const row of storage.list()) rows.push(row)
  expect(opened).toEqual([])
  files.fault = undefined
  expect(rows).toHaveLength(20)
  for (const [index, row] of rows.entries()) {
    const { id, ...head } = row
    expect(head).toEqual(await storage.head(id))
    expect(row.updatedAt).toBeLessThanOrEqual(rows[index - 1]?.updatedAt ?? Number.POSITIVE_INFINITY)
  }
  fs.appendFileSync(
    join(root, "s7", fs.readdirSync(join(root, "s7")).find((name) => name.endsWith(".jsonl")) ?? ""),
    "more\n",
  )
  files.fault = (call, proceed) => {
    if (call.op === "open" && call.path.endsWith(".jsonl")) opened.push(call.path)
    return proceed()
  }
  for await (const row of storage.list({ limit: 1 })) expect(row.id).toBe("s7")
  files.fault = undefined
  expect(opened.every((path) => path.includes("s7"))).toBe(true)
})

test("a reader of a log that is replaced or deleted under it gets conflict, and never a line of another log", async () => {
  const ends: readonly ((storage: SessionStorage, head: Head) => Promise<unknown>)[] = [
    async (storage) => storage.delete("a"),
    async (storage) => {
      await storage.delete("a")
      return fill(storage, "a", 900, 1_000)
    },
    async (storage, head) => storage.replace?.("a", chunked(linesTo(900, 1_000)), { expect: head }),
  ]
  for (const end of ends) {
    const { storage } = openAt(makeRoot(), { maxPartBytes: 300_000 })
    const head = await fill(storage, "a", 900, 1_001)
    const seen: string[] = []
    const reading = (async () => {
      for await (const chunk of storage.read("a")) {
        seen.push(...chunk.lines)
        if (chunk.from === 0) await end(storage, head)
      }
    })()
    await expect(reading).rejects.toMatchObject({ code: "conflict" })
    expect(seen).toEqual(linesTo(900, 1_001).slice(0, seen.length))
  }
})

test("a reader goes on while a writer appends and rolls", async () => {
  const { storage } = openAt(makeRoot(), { maxPartBytes: 40_000 })
  let head = await fill(storage, "a", 1_000, 300)
  let count = 0
  for await (const chunk of storage.read("a")) {
    expect(chunk.lines).toEqual(linesTo(chunk.from + chunk.lines.length, 300).slice(chunk.from))
    count += chunk.lines.length
    for (let i = 0; i < 40; i++) head = await storage.append("a", [lineAt(head.next, 300)], { expect: head })
  }
  expect(count).toBe(1_000)
  expect(await linesOf(storage, "a")).toEqual(linesTo(head.next, 300))
})

test("a blob that holds other bytes than its name says is `corrupt`", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const hash = await storage.blobs.put(new TextEncoder().encode("text"))
  fs.writeFileSync(join(root, ".blobs", hash.slice(0, 2), hash), "tampered")
  await expect(storage.blobs.get(hash)).rejects.toMatchObject({ code: "corrupt" })
})

test("a collector that looked before a put does not take the blob", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const bytes = new TextEncoder().encode("text")
  const hash = await storage.blobs.put(bytes)
  const path = join(root, ".blobs", hash.slice(0, 2), hash)
  fs.utimesSync(path, 1_000, 1_000)
  await storage.blobs.put(bytes)
  expect(await storage.blobs.delete(hash, { ifPutBefore: Date.now() - 60_000 })).toBe(false)
  fs.utimesSync(path, 1_000, 1_000)
  expect(await storage.blobs.delete(hash, { ifPutBefore: Date.now() - 60_000 })).toBe(true)
})
