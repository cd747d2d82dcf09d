/** Files that somebody with the right to write to the folder made up. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { collectBlobs } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import { createFileStorage } from "../src/index.ts"
import { countReads } from "./counted-reads.ts"
import { chunked, fill, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

test("a link in the place of documents leads nowhere: not when a log is replaced, and not when an interrupted swap is completed", async () => {
  const [root, outside] = [makeRoot(), makeRoot()]
  fs.writeFileSync(join(outside, "secret"), "theirs")
  fs.mkdirSync(join(outside, "docs"))
  fs.writeFileSync(join(outside, "docs", "secret"), "theirs")
  const { storage } = openAt(root)
  const head = await fill(storage, "replaced", 2)
  fs.symlinkSync(outside, join(root, "replaced", "docs"))
  const refused = { code: "misconfigured" }
  await expect(storage.replace?.("replaced", chunked(["new"]), { expect: head })).rejects.toMatchObject(refused)
  expect(await linesOf(storage, "replaced")).toEqual(linesTo(2))

  const makeSwap = (id: string): string => {
    const swap = join(root, ".new", `${id}.swap`)
    fs.mkdirSync(swap)
    fs.writeFileSync(join(swap, "session.jsonl"), "aside\n")
    return swap
  }
  makeSwap("from")
  fs.mkdirSync(join(root, "from"))
  fs.symlinkSync(outside, join(root, "from", "docs"))
  fs.symlinkSync(outside, join(makeSwap("to"), "docs"))
  fs.mkdirSync(join(root, "to", "docs"), { recursive: true })
  fs.writeFileSync(join(root, "to", "docs", "mine"), "ours")
  makeSwap("whole")
  fs.symlinkSync(outside, join(root, "whole"))
  for (const id of ["from", "to", "whole"]) {
    const now = (await storage.head(id)) ?? { next: 1, log: "" }
    await expect(storage.append(id, ["on"], { expect: { next: now.next, log: now.log } })).rejects.toMatchObject({
      code: expect.stringMatching(/misconfigured|conflict/) as string,
    })
  }
  fs.symlinkSync(outside, join(root, ".new", "aside.swap"))
  const keys: string[] = []
  for await (const key of storage.docs.list()) keys.push(key)
  expect(keys).toEqual(["sessions/to/mine"])
  for (const id of ["to", "aside", "whole"]) {
    const found = await storage.docs.get(`sessions/${id}/secret`).catch(() => undefined)
    expect(found).toBeUndefined()
  }
  expect(fs.readdirSync(outside).sort()).toEqual(["docs", "secret"])
  expect(fs.readdirSync(join(outside, "docs"))).toEqual(["secret"])
})

test("`metadata.json` names no file outside the session's folder", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await fill(storage, "a", 3)
  await storage[Symbol.asyncDispose]()
  const path = join(root, "a", "metadata.json")
  const whole = JSON.parse(fs.readFileSync(path, "utf8")) as { parts: readonly object[] }
  fs.writeFileSync(join(root, "elsewhere"), "12345")
  const wrong = [
    { parts: [{ name: "../elsewhere", from: 0, bytes: 5 }] },
    { parts: [{ ...whole.parts[0], from: 7 }] },
    { next: -1 },
  ]
  for (const change of wrong) {
    fs.writeFileSync(path, JSON.stringify({ ...whole, ...change }))
    for await (const row of openAt(root).storage.list()) {
      expect(row).toMatchObject({ id: "a", next: 3, parts: [{ from: 0, at: join(root, "a", "session.jsonl") }] })
    }
  }
})

test("files that are larger than any of their kind are not read into memory", async () => {
  const root = makeRoot()
  const first = openAt(root)
  const head = await fill(first.storage, "a", 3)
  await first.storage.docs.put("pointers", "mine", { expect: null })
  const bytes = new Uint8Array([1])
  const hash = await first.storage.blobs.put(bytes)
  await first.storage[Symbol.asyncDispose]()
  const blob = join(root, ".blobs", hash.slice(0, 2), hash)
  const large = [
    join(root, "a", "metadata.json"),
    join(root, "a", "session.marks"),
    join(root, ".docs", "pointers"),
    blob,
  ]
  for (const path of large) {
    fs.appendFileSync(path, "")
    fs.truncateSync(path, 3_000_000_000)
  }
  const counted = countReads()
  const storage = createFileStorage({ root, files: counted.files })
  for await (const row of storage.list()) expect(row).toMatchObject({ id: "a", ...head })
  await storage.append("a", [lineAt(3)], { expect: head })
  expect(await linesOf(storage, "a")).toEqual(linesTo(4))
  await expect(storage.docs.get("pointers")).rejects.toMatchObject({ code: "corrupt" })
  await expect(storage.blobs.get(hash)).rejects.toMatchObject({ code: "corrupt" })
  await storage.blobs.put(bytes)
  expect(await storage.blobs.get(hash)).toEqual(bytes)
  await storage[Symbol.asyncDispose]()
  expect(counted.largest()).toBeLessThanOrEqual(1_048_576)
  expect(counted.take()).toBeLessThan(1_000_000)
})

test("a torn end that is larger than memory should hold is kept aside in pieces", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const head = await fill(storage, "a", 2)
  await storage[Symbol.asyncDispose]()
  const path = join(root, "a", "session.jsonl")
  const whole = fs.statSync(path).size
  fs.truncateSync(path, 20_000_000)
  const again = openAt(root)
  let largest = 0
  again.files.fault = ({ op }, proceed) => {
    const outcome = proceed()
    if (op === "read") largest = Math.max(largest, Number(outcome))
    return outcome
  }
  await again.storage.append("a", [lineAt(2)], { expect: head })
  expect(await linesOf(again.storage, "a")).toEqual(linesTo(3))
  const [torn = ""] = fs.readdirSync(join(root, "a")).filter((name) => name.endsWith(".torn"))
  expect(fs.statSync(join(root, "a", torn)).size).toBe(20_000_000 - whole)
  expect(largest).toBeLessThanOrEqual(1_048_576)
})

test("documents of names that no key has are foreign: they are not listed, and stop no collection", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await fill(storage, "a", 2)
  await storage.docs.put("pointers", "mine", { expect: null })
  await storage.docs.put("sessions/a/notes", "mine", { expect: null })
  for (const folder of [join(root, ".docs"), join(root, "a", "docs")]) {
    for (const name of ["pointers~", "a b", "ends.", "x".repeat(80)]) fs.writeFileSync(join(folder, name), "foreign")
    if (process.platform !== "win32") fs.writeFileSync(join(folder, "two\nlines"), "foreign")
  }
  await storage.blobs.put(new Uint8Array([1]))
  const keys: string[] = []
  for await (const key of storage.docs.list()) keys.push(key)
  expect(keys).toEqual(["pointers", "sessions/a/notes"])
  expect(await collectBlobs(storage, { olderThan: 0 })).toMatchObject({ removed: expect.any(Number) as number })
})

test("a folder in the place of a lock is told of each time, and leaves nothing that makes the next one wait longer", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { lockTimeout: 5_000 })
  const head = await fill(storage, "a", 2)
  await storage[Symbol.asyncDispose]()
  fs.mkdirSync(join(root, ".locks", "a.lock", "full"), { recursive: true })
  // It must not wait for the lock: that would take an hour.
  const again = openAt(root, { lockTimeout: 3_600_000 }).storage
  for (let i = 0; i < 2; i++) {
    await expect(again.append("a", ["x"], { expect: head })).rejects.toMatchObject({ code: "misconfigured" })
  }
  expect(fs.readdirSync(join(root, ".locks")).filter((name) => name.endsWith(".take"))).toEqual([])
})

test("what a lock says of its owner's host cannot move a terminal's cursor", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { lockTimeout: 50 })
  const head = await fill(storage, "a", 2)
  await storage[Symbol.asyncDispose]()
  fs.writeFileSync(join(root, ".locks", "a.lock"), JSON.stringify({ token: "t", pid: 7, host: "\u001b[2Jone\ntwo" }))
  const refused = openAt(root, { lockTimeout: 50 }).storage.append("a", ["x"], { expect: head })
  await expect(refused).rejects.toThrow("process 7 on ?[2Jone?two holds")
})

test("parts that were given other numbers are read in their order, and what is appended to them can be read", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { maxPartBytes: 100 })
  let head = await fill(storage, "a", 20)
  await storage[Symbol.asyncDispose]()
  const folder = join(root, "a")
  const parts = ((await openAt(root).storage.head("a"))?.parts ?? []).map(({ at }) => at ?? "")
  const [last = "", before = ""] = [parts.at(-1), parts.at(-2)]
  const numberOf = (path: string): string => /part(\d+)/.exec(path)?.[1] ?? ""
  const renumber = (path: string, number: string): string => path.replace(/part\d+/, `part${number}`)
  fs.renameSync(before, renumber(before, numberOf(last)))
  fs.renameSync(last, renumber(last, numberOf(before)))
  for (const name of fs.readdirSync(folder)) if (!name.endsWith("jsonl")) fs.rmSync(join(folder, name))
  const again = openAt(root, { maxPartBytes: 100 }).storage
  const { next, log } = (await again.head("a")) ?? head
  head = { next, log }
  for (let i = 20; i < 30; i++) head = await again.append("a", [lineAt(i)], { expect: head })
  await again[Symbol.asyncDispose]()
  expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(30))
})

test("after a part with the greatest number that a name can have nothing is acknowledged that no reader would find", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { maxPartBytes: 100 })
  let head = await fill(storage, "a", 8)
  const last = (await storage.head("a"))?.parts?.at(-1)?.at ?? ""
  await storage[Symbol.asyncDispose]()
  fs.renameSync(last, last.replace(/part\d+/, "part999999999"))
  const again = openAt(root, { maxPartBytes: 100 }).storage
  const append = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) head = await again.append("a", [lineAt(head.next)], { expect: head })
  }
  await expect(append()).rejects.toMatchObject({ code: "corrupt" })
  expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(head.next))
})

test("a session whose folder may not be looked into is listed, is `misconfigured`, and keeps every blob from collection", async () => {
  const root = makeRoot()
  const first = openAt(root).storage
  await fill(first, "hidden", 2)
  const sessions = createSessions({ storage: first })
  await (await sessions.create({ id: "open" })).close()
  const hash = await first.blobs.put(new Uint8Array([1]))
  await first[Symbol.asyncDispose]()
  const { storage, files } = openAt(root)
  const folder = join(root, "hidden")
  files.fault = ({ op, path }, proceed) => {
    const isWithin = path.startsWith(folder) && (path !== folder || op === "readdir")
    if (isWithin) throw Object.assign(new Error("EACCES"), { code: "EACCES" })
    return proceed()
  }
  const page = await createSessions({ storage }).list()
  expect(page.sessions.map(({ id }) => id)).toEqual(["open"])
  expect(page.unreadable).toMatchObject([{ id: "hidden", error: { code: "misconfigured" } }])
  await expect(collectBlobs(storage, { olderThan: 0 })).rejects.toMatchObject({ code: "misconfigured" })
  expect(await storage.blobs.has(hash)).toBe(true)
})
