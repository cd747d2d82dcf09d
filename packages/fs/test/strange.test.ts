/** Folders as nobody made them: links that lead out, pipes, missing parts, clocks that were set back, things moved while they are used. */
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { join, relative } from "node:path"
import { createSessions, type NewEntry } from "@sessions/core"
import type { HeadInfo, ListRow, SessionStorage } from "@sessions/core/storage"
import { expect, onTestFinished, test, vi } from "vitest"
import { chunked, fill, filesBelow, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

for (const inner of [".locks", ".new", ".trash", ".rolled", ".docs", ".blobs"]) {
  test(`where ${inner} is a link out of the root, what would go through it is refused, and nothing out there is touched`, async () => {
    const root = makeRoot()
    const first = openAt(root, { maxPartBytes: 100 })
    const head = await fill(first.storage, "a", 8)
    await first.storage.docs.put("pointers", "mine", { expect: null })
    await first.storage.blobs.put(new Uint8Array([1]))
    await fill(first.storage, "b", 2)
    await first.storage.delete("b")
    await first.storage[Symbol.asyncDispose]()
    const outside = makeRoot()
    const victims = ["old", "x.swap"].map((name) => join(outside, name))
    for (const victim of victims) {
      fs.mkdirSync(victim)
      fs.writeFileSync(join(victim, "session.jsonl"), "theirs\n")
      fs.utimesSync(victim, 1_000, 1_000)
    }
    const before = filesBelow(outside)
    fs.rmSync(join(root, inner), { recursive: true, force: true })
    fs.symlinkSync(outside, join(root, inner))

    const { storage } = openAt(root, { maxPartBytes: 100 })
    const calls: readonly (() => Promise<unknown>)[] = [
      () => storage.append("a", [lineAt(8)], { expect: head }),
      () => storage.append("c", linesTo(3), { expect: 0 }),
      () => storage.docs.put("more", "text", { expect: null }),
      () => storage.docs.put("sessions/a/d", "text", { expect: null }),
      () => storage.blobs.put(new Uint8Array([2])),
      async () => storage.replace?.("a", chunked(["new"]), { expect: head }),
      () => storage.delete("a"),
      () => storage.delete("x"),
    ]
    const codes = await Promise.all(calls.map((call) => codeOf(call())))
    expect(codes).toContain("misconfigured")
    expect(codes.filter((code) => !["done", "misconfigured", "conflict"].includes(code))).toEqual([])
    for await (const row of storage.list()) expect(["a", "c"]).toContain(row.id)
    for await (const key of storage.docs.list()) expect(key).not.toContain("x")
    for await (const blob of storage.blobs.list()) expect(blob.bytes).toBe(1)
    expect(filesBelow(outside)).toEqual(before)
    expect(fs.readdirSync(outside).sort()).toEqual(["old", "x.swap"])
  })
}

test("a blob and a document that are links are not there, and what they lead to keeps its content and its time", async () => {
  const root = makeRoot()
  const outside = join(makeRoot(), "secret")
  fs.writeFileSync(outside, "12345")
  fs.utimesSync(outside, 1_000, 1_000)
  const { storage } = openAt(root)
  const bytes = new TextEncoder().encode("12345")
  const hash = await storage.blobs.put(bytes)
  await storage.docs.put("pointers", "mine", { expect: null })
  for (const path of [join(root, ".blobs", hash.slice(0, 2), hash), join(root, ".docs", "pointers")]) {
    fs.unlinkSync(path)
    fs.symlinkSync(outside, path)
  }
  expect(await storage.blobs.get(hash)).toBeUndefined()
  expect(await storage.blobs.put(bytes)).toBe(hash)
  expect(await storage.blobs.get(hash)).toEqual(bytes)
  expect(await storage.docs.get("pointers")).toBeUndefined()
  await storage.docs.put("pointers", "new", { expect: null })
  expect((await storage.docs.get("pointers"))?.text).toBe("new")
  expect(fs.readFileSync(outside, "utf8")).toBe("12345")
  expect(fs.statSync(outside).mtimeMs).toBe(1_000_000)
})

test.skipIf(process.platform === "win32")(
  "a pipe where a file should be is no file, and nobody waits for its other end",
  async () => {
    const root = makeRoot()
    for (const name of ["session.jsonl", "log.id", "metadata.json"]) {
      const { storage } = openAt(root)
      const id = `s-${name.slice(0, 3)}`
      const head = await fill(storage, id, 3)
      await storage[Symbol.asyncDispose]()
      const path = join(root, id, name)
      fs.unlinkSync(path)
      makePipe(path)
      const again = openAt(root).storage
      expect(["done", "corrupt"]).toContain(await codeOf(again.head(id)))
      for await (const row of again.list()) expect(row.id).toMatch(/^s-/)
      const code = await codeOf(again.append(id, ["on"], { expect: head }))
      expect(["done", "conflict", "misconfigured", "corrupt"]).toContain(code)
    }
  },
)

test("a log without its first part is listed as `corrupt`, whatever is stored of its row, can be deleted, and hides no other", async () => {
  const root = makeRoot()
  const first = openAt(root, { maxPartBytes: 100 })
  const head = await fill(first.storage, "a", 12)
  await fill(first.storage, "b", 2)
  const whole = (await first.storage.head("a")) as HeadInfo
  await first.storage[Symbol.asyncDispose]()
  fs.unlinkSync(join(root, "a", "session.jsonl"))
  for (const removed of ["", ".rolled", "a/metadata.json"]) {
    if (removed !== "") fs.rmSync(join(root, removed), { recursive: true })
    const { storage } = openAt(root)
    const rows = new Map<string, ListRow>()
    for await (const row of storage.list()) rows.set(row.id, row)
    expect([...rows.keys()].sort()).toEqual(["a", "b"])
    expect(rows.get("a")).toMatchObject({ id: "a", error: { code: "corrupt", session: "a" } })
    await expect(storage.head("a")).rejects.toMatchObject({ code: "corrupt", session: "a" })
    await expect(linesOf(storage, "a")).rejects.toMatchObject({ code: "corrupt", session: "a" })
    await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({ code: "corrupt" })
    const { sessions, unreadable } = await createSessions({ storage }).list()
    expect(sessions).toEqual([])
    expect(unreadable.map(({ id }) => id).sort()).toEqual(["a", "b"])
  }
  const { storage } = openAt(root)
  expect(await storage.delete("a")).toMatchObject({ parts: (whole.parts?.length ?? 0) - 1 })
  expect(fs.existsSync(join(root, "a"))).toBe(false)
})

test.each([undefined, "", " \n", "another\n"])(
  "a log without its first part is `corrupt`, not missing, and no new log takes its place: `log.id` is %j",
  async (identity) => {
    const root = makeRoot()
    const first = openAt(root, { maxPartBytes: 100 })
    const head = await fill(first.storage, "a", 12)
    await first.storage[Symbol.asyncDispose]()
    const folder = join(root, "a")
    fs.unlinkSync(join(folder, "session.jsonl"))
    fs.unlinkSync(join(folder, "log.id"))
    if (identity !== undefined) fs.writeFileSync(join(folder, "log.id"), identity)
    const before = filesBelow(folder)
    const { storage } = openAt(root)
    const corrupt = { code: "corrupt", session: "a" }
    await expect(storage.head("a")).rejects.toMatchObject(corrupt)
    for (const range of [{}, { from: head.next - 1 }, { before: head.next, maxBytes: 100_000 }])
      await expect(linesOf(storage, "a", range)).rejects.toMatchObject(corrupt)
    for (const expected of [0, head] as const)
      await expect(storage.append("a", ["x"], { expect: expected })).rejects.toMatchObject(corrupt)
    await expect(createSessions({ storage }).openOrCreate("a")).rejects.toMatchObject({ code: "corrupt" })
    const rows: ListRow[] = []
    for await (const row of storage.list()) rows.push(row)
    expect(rows).toMatchObject([{ id: "a", error: corrupt }])
    expect(filesBelow(folder)).toEqual(before)
    expect(await storage.delete("a")).toMatchObject({ parts: before.filter((path) => path.endsWith(".jsonl")).length })
    expect(fs.existsSync(folder)).toBe(false)
  },
)

test("a session whose folder cannot be looked into hides no other", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  await fill(storage, "a", 2)
  await fill(storage, "b", 2)
  await storage[Symbol.asyncDispose]()
  const again = openAt(root)
  again.files.fault = ({ op, path }, proceed) => {
    if (path.includes(join(root, "a")) && op !== "readdir") throw Object.assign(new Error("EACCES"), { code: "EACCES" })
    return proceed()
  }
  const ids: string[] = []
  for await (const { id } of again.storage.list()) ids.push(id)
  again.files.fault = undefined
  expect(ids.sort()).toEqual(["a", "b"])
  expect(files.opened.size).toBe(0)
})

test("time does not go back with the clock: not in an append, not in a new part, not in a replace", async () => {
  const { storage } = openAt(makeRoot(), { maxPartBytes: 100 })
  let head = await fill(storage, "a", 3)
  const timeNow = async (): Promise<number> => (await storage.head("a"))?.updatedAt ?? 0
  let before = await timeNow()
  const later = before + 3_600_000
  fs.utimesSync((await storage.head("a"))?.parts?.at(-1)?.at ?? "", later / 1000, later / 1000)
  before = later
  for (let i = 3; i < 12; i++) {
    head = await storage.append("a", [lineAt(i)], { expect: head })
    expect(await timeNow()).toBeGreaterThanOrEqual(before)
    before = await timeNow()
  }
  expect((await storage.head("a"))?.parts?.length).toBeGreaterThan(2)
  await storage.replace?.("a", chunked(linesTo(3)), { expect: head })
  expect(await timeNow()).toBeGreaterThanOrEqual(before)
})

test("a clock that is set back or ahead while a lock is held takes it from nobody alive", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  let head = await fill(storage, "a", 2)
  for (const shift of [-3_600_000, 3_600_000]) {
    const now = Date.now()
    vi.spyOn(Date, "now").mockReturnValue(now + shift)
    onTestFinished(() => void vi.restoreAllMocks())
    head = await storage.append("a", [lineAt(head.next)], { expect: head })
    const other = openAt(root, { lockTimeout: 200 }).storage
    const code = await codeOf(other.append("a", ["x"], { expect: { next: 1, log: head.log } }))
    expect(["conflict", "misconfigured"]).toContain(code)
    vi.restoreAllMocks()
  }
  expect(await linesOf(storage, "a")).toEqual(linesTo(4))
  expect((await storage.head("a"))?.parts).toHaveLength(1)
})

test("a folder that is moved away under a writer, and one that is put in its place, are noticed within a refresh of the lock", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  let head = await fill(storage, "a", 2)
  fs.renameSync(join(root, "a"), join(root, "moved"))
  let refreshes = 0
  files.fault = ({ op, path }, proceed) => {
    if (op === "utimes" && path === join(root, ".locks", "a.lock")) refreshes++
    return proceed()
  }
  // In one burst: nothing else of this process runs, so the lock stays in hand.
  const burst = async (): Promise<void> => {
    for (;;) head = await storage.append("a", [lineAt(head.next)], { expect: head })
  }
  await expect(burst()).rejects.toMatchObject({ code: "conflict" })
  expect(refreshes).toBeLessThanOrEqual(1)
  files.fault = undefined
  expect(await linesOf(storage, "a")).toEqual([])
  expect(await linesOf(storage, "moved")).toEqual(linesTo(head.next))
  fs.cpSync(join(root, "moved"), join(root, "a"), { recursive: true })
  await storage.append("a", ["on"], { expect: head })
  expect(await linesOf(storage, "a")).toEqual([...linesTo(head.next), "on"])
  expect(await linesOf(storage, "moved")).toEqual(linesTo(head.next))
})

test("a writer that sleeps while another one deletes and makes anew, replaces or rolls the log adds nothing to a log it does not know", async () => {
  const others: readonly ((storage: SessionStorage, head: { next: number; log: string }) => Promise<unknown>)[] = [
    async (storage) => {
      await storage.delete("a")
      await fill(storage, "a", 3)
    },
    async (storage, head) => storage.replace?.("a", chunked(linesTo(3)), { expect: head }),
    (storage, head) => storage.append("a", linesTo(4), { expect: head }),
  ]
  for (const [index, change] of others.entries()) {
    const root = makeRoot()
    const { storage } = openAt(root, { maxPartBytes: 100 })
    const head = await fill(storage, "a", 3)
    const other = openAt(root, { maxPartBytes: 100 }).storage
    await change(other, head)
    const lines = await linesOf(other, "a")
    await expect(storage.append("a", ["old"], { expect: head })).rejects.toMatchObject({ code: "conflict" })
    expect(await linesOf(storage, "a")).toEqual(lines)
    const now = await storage.head("a")
    await storage.append("a", ["on"], { expect: { next: now?.next ?? 0, log: now?.log ?? "" } })
    expect(await linesOf(other, "a")).toEqual([...lines, "on"])
    expect(now?.log === head.log).toBe(index === 2)
  }
})

test("flushing a session syncs its log, with durability os as well", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const synced: string[] = []
  files.fault = ({ op, path }, proceed) => {
    if (op === "fdatasync" || op === "fsync") synced.push(`${op} ${relative(root, path)}`)
    return proceed()
  }
  const session = await createSessions({ storage }).create({ id: "s" })
  const entry: NewEntry = { type: "message", message: { role: "user", content: "hi" } }
  await session.append(entry)
  expect(synced).toEqual([])
  await session.flush()
  files.fault = undefined
  expect(synced).toEqual(["fdatasync s/session.jsonl", "fdatasync s/log.id", "fsync s", "fsync ", "fsync .."])
  await session.close()
})

async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return "done"
  } catch (error) {
    return String((error as { code?: string }).code)
  }
}

function makePipe(path: string): void {
  const command = "mkfifo"
  execFileSync(command, [path])
}
