import * as fs from "node:fs"
import { join } from "node:path"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { type Fault, type FileCall, type FaultyFiles, isLogWrite, systemError } from "./faulty-files.ts"
import { fill, filesBelow, lineAt, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"

test("a last record that is torn at any byte is no line, is kept aside, and never joins the next one", async () => {
  const last = Buffer.from(JSON.stringify({ text: "grüße 👍", n: 2 }), "utf8")
  for (let cut = 1; cut <= last.length; cut++) {
    const root = makeRoot()
    const first = openAt(root)
    const head = await fill(first.storage, "a", 2)
    await first.storage[Symbol.asyncDispose]()
    const path = join(root, "a", "session.jsonl")
    const torn = last.subarray(0, cut)
    fs.appendFileSync(path, torn)

    const { storage } = openAt(root)
    expect(await storage.head("a")).toMatchObject({ ...head, torn: cut })
    expect(await linesOf(storage, "a")).toEqual(linesTo(2))
    expect(fs.readFileSync(path).subarray(-cut)).toEqual(torn)
    await storage.append("a", ["next"], { expect: head })
    expect(await linesOf(storage, "a")).toEqual([...linesTo(2), "next"])
    const aside = fs.readdirSync(join(root, "a")).filter((name) => name.endsWith(".torn"))
    expect(aside).toHaveLength(1)
    expect(fs.readFileSync(join(root, "a", aside[0] ?? ""))).toEqual(torn)
  }
})

test.each([
  ["has no byte", (path: string) => fs.truncateSync(path)],
  ["has no whole line", (path: string) => fs.truncateSync(path, 5)],
  ["is gone", (path: string) => fs.rmSync(path)],
])("a log whose only part %s is `corrupt` and listed, is not begun anew, and can be deleted", async (_, damage) => {
  const root = makeRoot()
  const before = openAt(root).storage
  await before.append("a", ["first", "second"], { expect: 0, info: "{}" })
  await before[Symbol.asyncDispose]()
  damage(join(root, "a", "session.jsonl"))
  const { storage } = openAt(root)
  await expect(storage.head("a")).rejects.toMatchObject({ code: "corrupt" })
  await expect(storage.append("a", ["anew"], { expect: 0 })).rejects.toMatchObject({ code: "corrupt" })
  const rows = []
  for await (const { id, error } of storage.list()) rows.push([id, (error as { code?: unknown } | undefined)?.code])
  expect(rows).toEqual([["a", "corrupt"]])
  await storage.delete("a")
  await storage.append("a", ["anew"], { expect: 0 })
  expect(await linesOf(storage, "a")).toEqual(["anew"])
})

test("a lock that is released while no file can be opened is gone", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  await fill(storage, "a", 2)
  files.fault = ({ op }, proceed) => {
    if (op === "open") throw systemError("EMFILE")
    return proceed()
  }
  await storage[Symbol.asyncDispose]()
  expect(fs.readdirSync(join(root, ".locks"))).toEqual([])
})

test.each(["EACCES", "EIO", "EMFILE"])(
  "derived files that cannot be read (%s) are missing ones: the session is read, listed and continued",
  async (code) => {
    const root = makeRoot()
    const before = openAt(root, { maxPartBytes: 4_000 }).storage
    const head = await fill(before, "a", 200)
    await before[Symbol.asyncDispose]()
    const { storage, files } = openAt(root, { maxPartBytes: 4_000 })
    let refused = 0
    files.fault = ({ op, path }, proceed) => {
      if (op !== "open" || !/metadata\.json$|\.marks$/.test(path)) return proceed()
      refused++
      throw systemError(code)
    }
    expect(await linesOf(storage, "a")).toEqual(linesTo(200))
    const rows = []
    for await (const { id, error } of storage.list()) rows.push([id, error])
    expect(rows).toEqual([["a", undefined]])
    await storage.append("a", [lineAt(200)], { expect: head })
    expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(201))
    expect(refused).toBeGreaterThan(1)
  },
)

test("a creation that crashed in a folder of documents leaves no log, and the next one succeeds", async () => {
  const root = makeRoot()
  fs.mkdirSync(join(root, "a"))
  fs.writeFileSync(join(root, "a", "log.id"), "of a log that never was\n")
  const { storage } = openAt(root)
  expect(await storage.head("a")).toBeUndefined()
  await storage.append("a", ["first"], { expect: 0 })
  expect(await linesOf(storage, "a")).toEqual(["first"])
})

test("a session that waits for the disk while it is created keeps its lines, whatever others append meanwhile", async () => {
  const root = makeRoot()
  // The folder is there already, so the log is created in it.
  fs.mkdirSync(join(root, "a"))
  const { storage, files } = openAt(root)
  const head = await storage.append("b", ["first"], { expect: 0 })
  let other: Promise<unknown> | undefined
  files.fault = ({ op }, proceed) => {
    files.fault = op === "fdatasync" ? undefined : files.fault
    if (op === "fdatasync") other = Promise.resolve(storage.append("b", ["x".repeat(100)], { expect: head }))
    return proceed()
  }
  await storage.append("a", ["whole"], { expect: 0 })
  await other
  expect(await linesOf(storage, "a")).toEqual(["whole"])
})

for (const durability of ["os", "disk"] as const) {
  test(`durability ${durability}: a full disk is \`quota\`, leaves nothing of the batch, and appending goes on as soon as there is room`, async () => {
    const root = makeRoot()
    const { storage, files } = openAt(root, { durability })
    let head = await fill(storage, "a", 3)
    for (const written of [0, 1, 10, 25]) {
      failOnce(files, isLogWrite, () => {
        if (written === 0) throw systemError("ENOSPC")
        fs.appendFileSync(join(root, "a", "session.jsonl"), `${lineAt(3)}\n${lineAt(4)}\n`.slice(0, written))
        return written
      })
      await expect(storage.append("a", [lineAt(3), lineAt(4)], { expect: head })).rejects.toMatchObject({
        code: "quota",
      })
      expect(await linesOf(storage, "a")).toEqual(linesTo(head.next))
    }
    head = await storage.append("a", [lineAt(3)], { expect: head })
    expect(await linesOf(storage, "a")).toEqual(linesTo(4))
    expect(await openAt(root).storage.head("a")).toMatchObject(head)
  })
}

test("what a failed write left and could not be cut off is `indeterminate`, and the next append starts behind whole lines", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const head = await fill(storage, "a", 2)
  files.fault = ({ op, path }, proceed) => {
    if (op === "truncate") throw systemError("EIO")
    if (!isLogWrite({ op, path })) return proceed()
    fs.appendFileSync(path, `${lineAt(2)}\n{"to`)
    throw systemError("EIO")
  }
  const sent = [lineAt(2), lineAt(3)]
  await expect(storage.append("a", sent, { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  files.fault = undefined
  const now = await storage.head("a")
  expect(now).toMatchObject({ next: 3, torn: 4 })
  await storage.append("a", ["on"], { expect: { next: 3, log: head.log } })
  expect(await linesOf(storage, "a")).toEqual([...linesTo(3), "on"])
})

test("durability disk: a sync that fails takes back what it was for, and says that nothing of it is there", async () => {
  const { storage, files } = openAt(makeRoot(), { durability: "disk" })
  let head = await fill(storage, "a", 2)
  failOnce(
    files,
    ({ op }) => op === "fdatasync",
    () => Promise.reject(systemError("EIO")),
  )
  await expect(storage.append("a", [lineAt(2)], { expect: head })).rejects.toMatchObject({ code: "unavailable" })
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
  head = await storage.append("a", [lineAt(2)], { expect: head })
  expect(head.next).toBe(3)
})

test("durability disk: where that cannot be taken back either, the log is `corrupt` until the storage is opened anew", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root, { durability: "disk" })
  const head = await fill(storage, "a", 2)
  files.fault = ({ op }, proceed) => (op === "fdatasync" ? Promise.reject(systemError("EIO")) : proceed())
  await expect(storage.append("a", [lineAt(2)], { expect: head })).rejects.toMatchObject({ code: "corrupt" })
  files.fault = undefined
  await expect(storage.append("a", [lineAt(2)], { expect: head })).rejects.toMatchObject({ code: "corrupt" })
  await storage[Symbol.asyncDispose]()
  const again = openAt(root).storage
  const now = await again.head("a")
  await again.append("a", ["on"], { expect: { next: now?.next ?? 0, log: head.log } })
})

test("durability disk: who stops waiting for a sync hears `aborted` with `sent`, and the next append still comes after it", async () => {
  const { storage, files } = openAt(makeRoot(), { durability: "disk" })
  const head = await fill(storage, "a", 1)
  let synced = (): void => undefined
  failOnce(
    files,
    ({ op }) => op === "fdatasync",
    () =>
      new Promise<void>((resolve) => {
        synced = resolve
      }),
  )
  const controller = new AbortController()
  const first = storage.append("a", [lineAt(1)], { expect: head, signal: controller.signal })
  await expect.poll(() => files.fault).toBeUndefined()
  controller.abort()
  await expect(first).rejects.toMatchObject({ code: "aborted", sent: true })
  const second = storage.append("a", [lineAt(2)], { expect: { next: 2, log: head.log } })
  synced()
  expect(await second).toEqual({ next: 3, log: head.log })
  expect(await linesOf(storage, "a")).toEqual(linesTo(3))
})

test("durability os: after a sync that failed, the next one writes the lines once more before it says that they are safe", async () => {
  const { storage, files } = openAt(makeRoot(), { maxPartBytes: 100 })
  await fill(storage, "a", 12)
  const size = (await storage.head("a"))?.parts?.[1]?.bytes ?? 0
  const second = (path: string): boolean => path.includes("session_part2") && path.endsWith(".jsonl")
  failOnce(
    files,
    ({ op, path }) => op === "fdatasync" && second(path),
    () => Promise.reject(systemError("EIO")),
  )
  await expect(storage.sync?.("a")).rejects.toMatchObject({ code: "unavailable" })
  const steps: string[] = []
  files.fault = ({ op, path }, proceed) => {
    const outcome = proceed()
    if (second(path) && (op === "write" || op === "fdatasync"))
      steps.push(op === "write" ? `write ${String(outcome)}` : op)
    return outcome
  }
  await storage.sync?.("a")
  await storage.sync?.("a")
  files.fault = undefined
  expect(steps).toEqual([`write ${size}`, "fdatasync", "fdatasync"])
  expect(await linesOf(storage, "a")).toEqual(linesTo(12))
})

test("what ended processes left is removed when the root is opened, new files once they are a day old, a log that stands aside never", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await fill(storage, "a", 2)
  await fill(storage, "b", 2)
  await storage.delete("b")
  const long = Date.now() / 1000 - 100_000
  const uuid = (n: number): string => `0000000${n}-aaaa-4aaa-8aaa-aaaaaaaaaaaa`
  const [started, left] = [uuid(1), uuid(2)]
  fs.mkdirSync(join(root, ".new", started))
  fs.mkdirSync(join(root, ".new", left))
  fs.renameSync(join(root, "a"), join(root, ".new", "a.swap"))
  fs.mkdirSync(join(root, ".trash", left))
  fs.mkdirSync(join(root, ".trash", `b~${uuid(3)}`))
  for (const old of [`.new/${left}`, ".new/a.swap", `.trash/${left}`]) fs.utimesSync(join(root, old), long, long)
  for (const litter of [".docs", "d"].flatMap((folder) => [started, left].map((name) => `${folder}/.tmp-${name}`))) {
    fs.mkdirSync(join(root, litter, ".."), { recursive: true })
    fs.writeFileSync(join(root, litter), "")
    if (litter.endsWith(left)) fs.utimesSync(join(root, litter), long, long)
  }
  await fill(storage, "d", 1)
  await storage[Symbol.asyncDispose]()
  const { storage: again } = openAt(root)
  await again.append("d", ["x"], { expect: { next: 1, log: (await again.head("d"))?.log ?? "" } })
  await again[Symbol.asyncDispose]()
  expect(fs.readdirSync(join(root, ".docs"))).toEqual([`.tmp-${started}`])
  expect(fs.readdirSync(join(root, "d")).filter((name) => name.startsWith(".tmp"))).toEqual([`.tmp-${started}`])
  expect(fs.readdirSync(join(root, ".new")).sort()).toEqual([started, "a.swap"])
  expect(fs.readdirSync(join(root, ".trash"))).toEqual([])
  expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(2))
})

test("a folder that is removed under a running writer is a conflict, and nothing is written into the void", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const head = await fill(storage, "a", 3)
  fs.rmSync(join(root, "a"), { recursive: true })
  await expect(storage.append("a", [lineAt(3)], { expect: head })).rejects.toMatchObject({ code: "conflict" })
  expect(await linesOf(storage, "a")).toEqual([])
  await storage.append("a", ["anew"], { expect: 0 })
  expect(await linesOf(storage, "a")).toEqual(["anew"])
})

test("a rename that Windows refuses because somebody holds the file is tried again", async () => {
  const { storage, files } = openAt(makeRoot())
  let refused = 0
  files.fault = ({ op, path }, proceed) => {
    if (op === "rename" && path.includes(".docs") && refused++ < 3) throw systemError(refused === 1 ? "EPERM" : "EBUSY")
    return proceed()
  }
  await storage.docs.put("pointers", "text", { expect: null })
  expect(refused).toBe(4)
  expect((await storage.docs.get("pointers"))?.text).toBe("text")
})

test("what is derived is not needed: without it, or with it wrong, a log reads and grows as before", async () => {
  const spoils: readonly ((path: string) => void)[] = [
    (path) => fs.rmSync(path),
    (path) => fs.writeFileSync(path, "no json"),
    (path) => fs.writeFileSync(path, '{"marks":[[10,3,7],[300000,9,1]],"log":"x"}'),
    (path) => fs.writeFileSync(path, ""),
  ]
  for (const spoil of spoils) {
    const root = makeRoot()
    const first = openAt(root, { maxPartBytes: 900_000 }).storage
    await fill(first, "a", 30, 90_000)
    await first[Symbol.asyncDispose]()
    const derived = filesBelow(root).filter((file) => file.endsWith(".marks") || file.endsWith("metadata.json"))
    expect(derived.length).toBeGreaterThan(3)
    for (const file of derived) spoil(join(root, file))
    const { storage } = openAt(root, { maxPartBytes: 900_000 })
    const head = await headOf(storage)
    expect(head.next).toBe(30)
    expect(await linesOf(storage, "a", { from: 8, to: 23 })).toEqual(linesTo(23, 90_000).slice(8))
    await storage.append("a", [lineAt(30, 90_000)], { expect: head })
    for await (const row of storage.list()) expect(row).toMatchObject({ id: "a", next: 31 })
    expect(await linesOf(storage, "a")).toEqual(linesTo(31, 90_000))
  }
})

async function headOf(storage: SessionStorage): Promise<Head> {
  const info = await storage.head("a")
  return { next: info?.next ?? 0, log: info?.log ?? "" }
}

function failOnce(files: FaultyFiles, which: (call: FileCall) => boolean, fail: () => unknown): void {
  files.fault = (call, proceed) => {
    if (!which(call)) return proceed()
    files.fault = undefined
    return fail()
  }
}

test("a blob is put where its folder is on another volume than `.new`, whole or not at all", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const across: Fault = ({ op, path }, proceed) => {
    // The name of the new file is on the other volume only if it was written there.
    const isAcross = op === "rename" && path.includes(".blobs") && fs.readdirSync(join(root, ".new")).length > 0
    if (isAcross) throw systemError("EXDEV")
    return proceed()
  }
  files.fault = across
  const hash = await storage.blobs.put(new Uint8Array([1, 2, 3]))
  expect(await storage.blobs.get(hash)).toEqual(new Uint8Array([1, 2, 3]))
  expect(filesBelow(join(root, ".blobs"))).toEqual([join(hash.slice(0, 2), hash)])
  expect(fs.readdirSync(join(root, ".new"))).toEqual([])
})

test("where no inode is left for a lock, a derived file makes room for it, and a session is deleted", async () => {
  const root = makeRoot()
  const before = openAt(root).storage
  for (const id of ["a", "b"]) await fill(before, id, 2)
  await before[Symbol.asyncDispose]()
  const { storage, files } = openAt(root)
  const derived = (id: string): string => join(root, id, "metadata.json")
  let isTaken = false
  files.fault = ({ op, path }, proceed) => {
    if (op !== "open" || !path.endsWith(".lock") || isTaken) return proceed()
    if (fs.existsSync(derived("a"))) throw systemError("ENOSPC")
    isTaken = true
    return proceed()
  }
  expect(await storage.delete("a")).toMatchObject({ parts: 1, purged: true })
  files.fault = undefined
  expect(fs.existsSync(derived("b"))).toBe(true)
  expect(await linesOf(storage, "b")).toEqual(linesTo(2))
})
