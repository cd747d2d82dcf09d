import { execFile } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Chunk } from "@sessions/core/storage"
import { expect, test, vi } from "vitest"
import { isLogWrite } from "./faulty-files.ts"
import { fill, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"
import { racingTest } from "./racing.ts"
import { killOwners } from "./subject.ts"
import { FLAGS } from "../../../.config/program.ts"

const WRITER = fileURLToPath(new URL("writer-process.ts", import.meta.url))
const lockOf = (root: string): string => join(root, ".locks", "a.lock")

racingTest(20)

test("of many creations exactly one stands", async () => {
  const root = makeRoot()
  const storages = Array.from({ length: 8 }, () => openAt(root).storage)
  const outcomes = await Promise.allSettled(storages.map((storage, i) => storage.append("a", [`${i}`], { expect: 0 })))
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
  const reasons = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []))
  expect(reasons).toEqual(reasons.map(() => expect.objectContaining({ code: "conflict" })))
})

test("two processes that append as fast as they can lose nothing, keep their order, and neither starves", async () => {
  const root = makeRoot()
  const run = async (name: string): Promise<void> => {
    const args = [...FLAGS, WRITER, root, "a", name, "800"]
    // A writer that starves fails at its `lockTimeout`.
    await promisify(execFile)(process.execPath, args)
  }
  await Promise.all([run("x"), run("y")])
  const { storage } = openAt(root)
  const lines = (await linesOf(storage, "a")).map((line) => JSON.parse(line) as { name: string; n: number })
  expect(lines).toHaveLength(1600)
  for (const name of ["x", "y"]) {
    const own = lines.filter((line) => line.name === name).map((line) => line.n)
    expect(own).toEqual(Array.from({ length: 800 }, (_, n) => n))
  }
})

test("the lock is held for a burst, and given back when the writer pauses", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  let locks = 0
  files.fault = ({ op, path }, proceed) => {
    if (op === "write" && path === lockOf(root)) locks++
    return proceed()
  }
  await fill(storage, "a", 50)
  expect(locks).toBe(1)
  expect(fs.existsSync(lockOf(root))).toBe(true)
  await expect.poll(() => fs.existsSync(lockOf(root))).toBe(false)
  files.fault = undefined
})

test("a writer that never pauses gives way to one that waits", async () => {
  const root = makeRoot()
  const busy = openAt(root).storage
  const other = openAt(root).storage
  let head = await fill(busy, "a", 1)
  let stop = false
  const running = (async () => {
    let rounds = 0
    while (!stop) {
      try {
        head = await busy.append("a", ["busy"], { expect: head })
      } catch {
        const now = await busy.head("a")
        head = { next: now?.next ?? 0, log: head.log }
      }
      // As a program does between two calls; without any pause nothing else of this process runs at all.
      if (++rounds % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  // If it does not give way, the other one fails at its `lockTimeout`.
  for (let n = 0; n < 3; ) {
    const now = await other.head("a")
    try {
      await other.append("a", [`other ${n}`], { expect: { next: now?.next ?? 0, log: head.log } })
      n++
    } catch (error) {
      if ((error as { code?: string }).code !== "conflict") throw error
    }
  }
  stop = true
  await running
  expect((await linesOf(other, "a")).filter((line) => line.startsWith("other"))).toEqual([
    "other 0",
    "other 1",
    "other 2",
  ])
})

test("a lock that is held is waited for no longer than lockTimeout, and named", async () => {
  const root = makeRoot()
  const first = openAt(root)
  const head = await fill(first.storage, "a", 1)
  await expect.poll(() => fs.existsSync(lockOf(root))).toBe(false)
  fs.writeFileSync(lockOf(root), JSON.stringify({ token: "t", pid: 1, host: "elsewhere", boot: "", space: "" }))
  const { storage } = openAt(root, { lockTimeout: 100 })
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({
    code: "unavailable",
    at: lockOf(root),
    message: expect.stringContaining("process 1 on elsewhere"),
  })
  const controller = new AbortController()
  const waiting = openAt(root).storage.append("a", ["x"], { expect: head, signal: controller.signal })
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: "aborted" })
  expect(await linesOf(storage, "a")).toEqual(linesTo(1))
  fs.unlinkSync(lockOf(root))
})

test("an append to a log that is gone, and a creation of what exists, need not wait for a lock to fail", async () => {
  const root = makeRoot()
  const holder = openAt(root).storage
  await fill(holder, "a", 3)
  const { storage } = openAt(root, { lockTimeout: 10 })
  for (const wrong of [0, { next: 3, log: "other" }] as const) {
    await expect(storage.append("a", ["x"], { expect: wrong })).rejects.toMatchObject({ code: "conflict" })
  }
})

test("a lock whose owner is dead is taken over at once", async () => {
  const root = makeRoot()
  const first = openAt(root)
  const head = await fill(first.storage, "a", 2)
  first.files.fault = () => {
    throw new Error("dead")
  }
  killOwners(join(root, ".locks"))
  const { storage } = openAt(root, { lockTimeout: 5_000 })
  await storage.append("a", [lineAt(2)], { expect: head })
  expect(await storage.head("a")).toMatchObject({ next: 3, parts: [{ from: 0 }] })
})

test("a lock that its living owner does not refresh is taken over, and the part that he may still write to is ended", async () => {
  const root = makeRoot()
  const first = openAt(root)
  const head = await fill(first.storage, "a", 2)
  await first.storage[Symbol.asyncDispose]()
  const owner = { token: "frozen", pid: process.pid, host: "here", boot: "", space: "" }
  fs.writeFileSync(lockOf(root), JSON.stringify(owner))
  fs.utimesSync(lockOf(root), new Date(Date.now() - 20_000), new Date(Date.now() - 20_000))
  const { storage } = openAt(root, { lockTimeout: 5_000 })
  await storage.append("a", [lineAt(2)], { expect: head })
  expect((await storage.head("a"))?.parts?.map((part) => part.from)).toEqual([0, 2])
  fs.appendFileSync(join(root, "a", "session.jsonl"), "a late write\n")
  for (const reader of [storage, openAt(root).storage]) {
    expect(await linesOf(reader, "a")).toEqual(linesTo(3))
    expect(await reader.head("a")).toMatchObject({ next: 3, bytes: Buffer.byteLength(`${linesTo(3).join("\n")}\n`) })
  }
})

test("a writer that was frozen in the middle of an append finds its late write void, says conflict, and goes on", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const head = await fill(storage, "a", 2)
  files.fault = (call, proceed) => {
    if (!isLogWrite(call)) return proceed()
    files.fault = undefined
    // It sleeps here; another writer takes the lock, ends the part and goes on.
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 20_000)
    fs.writeFileSync(lockOf(root), JSON.stringify({ token: "other", pid: 1, host: "", boot: "", space: "" }))
    fs.writeFileSync(join(root, "a", "session_part2.2.jsonl"), `${lineAt(2)}\n`, { mode: 0o600 })
    return proceed()
  }
  const late = storage.append("a", ["late"], { expect: head })
  await otherGivesBack(root)
  await expect(late).rejects.toMatchObject({ code: "conflict" })
  expect(fs.readFileSync(join(root, "a", "session.jsonl"), "utf8")).toContain("late")
  expect(await linesOf(storage, "a")).toEqual(linesTo(3))
  await storage.append("a", [lineAt(3)], { expect: { next: 3, log: head.log } })
  expect(await linesOf(storage, "a")).toEqual(linesTo(4))
})

test("a writer that was frozen after its write, before anyone took over, has written", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const head = await fill(storage, "a", 2)
  files.fault = (call, proceed) => {
    if (!isLogWrite(call)) return proceed()
    files.fault = undefined
    const written = proceed()
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 20_000)
    fs.writeFileSync(lockOf(root), JSON.stringify({ token: "other", pid: 1, host: "", boot: "", space: "" }))
    fs.writeFileSync(join(root, "a", "session_part2.3.jsonl"), `${lineAt(3)}\n`, { mode: 0o600 })
    return written
  }
  const written = storage.append("a", [lineAt(2)], { expect: head })
  await otherGivesBack(root)
  expect(await written).toEqual({ next: 3, log: head.log })
  expect(await linesOf(storage, "a")).toEqual(linesTo(4))
})

test("a writer that was frozen says nothing of its write before the one who took over has ended the part", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const head = await fill(storage, "a", 2)
  files.fault = (call, proceed) => {
    if (!isLogWrite(call)) return proceed()
    files.fault = undefined
    const written = proceed()
    // The other one has the lock, has counted the log before this write, and is about to begin the next part.
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 20_000)
    fs.writeFileSync(lockOf(root), JSON.stringify({ token: "other", pid: 1, host: "", boot: "", space: "" }))
    return written
  }
  const late = storage.append("a", ["late"], { expect: head })
  await otherGivesBack(root, () =>
    fs.writeFileSync(join(root, "a", "session_part2.2.jsonl"), `${lineAt(2)}\n`, { mode: 0o600 }),
  )
  await expect(late).rejects.toMatchObject({ code: "conflict" })
  expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(3))
})

test("a part that was made by a writer that had lost the lock meanwhile does not count", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await fill(storage, "a", 4)
  await storage[Symbol.asyncDispose]()
  fs.writeFileSync(join(root, "a", "session_part2.4.jsonl"), `${lineAt(4)}\n`)
  fs.writeFileSync(join(root, "a", "session_part2.3.jsonl"), "late\n")
  expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(5))
})

test("a replace whose lock was taken over while it was built leaves the log alone, and so does a document", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const head = await fill(storage, "a", 2)
  const other = JSON.stringify({ token: "other", pid: 1, host: "elsewhere", boot: "", space: "" })
  async function* chunks(): AsyncGenerator<Chunk> {
    fs.writeFileSync(lockOf(root), other)
    yield { from: 0, lines: ["new"] }
  }
  await expect(storage.replace?.("a", chunks(), { expect: head })).rejects.toMatchObject({ code: "unavailable" })
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
  fs.unlinkSync(lockOf(root))

  const docsLock = join(root, ".locks", ".docs.lock")
  files.fault = ({ op, path }, proceed) => {
    if (op === "fdatasync" && path.includes(".docs")) fs.writeFileSync(docsLock, other)
    return proceed()
  }
  await expect(storage.docs.put("pointers", "late", { expect: null })).rejects.toMatchObject({ code: "unavailable" })
  files.fault = undefined
  expect(await storage.docs.get("pointers")).toBeUndefined()
  expect(fs.existsSync(docsLock)).toBe(true)
  fs.unlinkSync(docsLock)
})

/** Who holds the lock ends his work and gives it back, once somebody waits for it. */
async function otherGivesBack(root: string, work: () => void = () => undefined): Promise<void> {
  await expect.poll(() => fs.existsSync(`${lockOf(root)}.wait`)).toBe(true)
  vi.restoreAllMocks()
  work()
  fs.unlinkSync(lockOf(root))
}
