/** What was acknowledged as durable survives a power failure: its content and every name on the way to it are synced. */
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { expect, onTestFinished, test, vi } from "vitest"
import { createFileStorage, type Files, type FileStorageOptions } from "../src/index.ts"
import { chunked, fill, lineAt, linesOf, linesTo, makeRoot } from "./helpers.ts"
import { createRecordingFiles, type RecordingFiles } from "./recording-files.ts"

test.skipIf(process.platform === "win32")(
  "durability disk: after each acknowledgement no content and no name is left that a power failure may take",
  async () => {
    const { storage, files } = record(join(makeRoot(), "new", "root"), { durability: "disk", maxPartBytes: 100 })
    const steps: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["a creation", () => storage.append("a", [lineAt(0)], { expect: 0 })],
      ["appends that begin parts", () => append(storage, "a", 12)],
      ["a document", () => storage.docs.put("pointers", "text", { expect: null })],
      ["a document of a session", () => storage.docs.put("sessions/a/d", "text", { expect: null })],
      ["a document of a session that is not there", () => storage.docs.put("sessions/b/d", "text", { expect: null })],
      ["a creation beside a document", () => storage.append("b", [lineAt(0)], { expect: 0 })],
      ["a blob", () => storage.blobs.put(new Uint8Array([1]))],
      ["another blob", () => storage.blobs.put(new Uint8Array([2]))],
      [
        "a replace",
        async () => storage.replace?.("a", chunked(["new"], ["log"]), { expect: await headOf(storage, "a") }),
      ],
      ["an append after it", () => append(storage, "a", 1)],
      ["a deletion", () => storage.delete("a")],
    ]
    for (const [name, step] of steps) {
      await step()
      // Only a deletion promises that nothing of a removed log is left.
      const unsafe = files.unsafe().filter((change) => name === "a deletion" || !change.startsWith("gone .trash/"))
      expect(unsafe, name).toEqual([])
    }
  },
)

test.skipIf(process.platform === "win32")(
  "durability disk: a creation in a new root syncs files, then their folders upwards, and acknowledges after the last one",
  async () => {
    const root = join(makeRoot(), "new", "root")
    const { storage, files } = record(root, { durability: "disk" })
    await storage.append("a", [lineAt(0)], { expect: 0 })
    files.calls.push("acknowledged")
    expect(files.calls).toEqual(["mkdir ..", "mkdir .", "rename a", "sync .", "sync ..", "sync ../..", "acknowledged"])
    files.calls.length = 0
    await append(storage, "a", 1)
    await storage.append("b", [lineAt(0)], { expect: 0 })
    expect(files.calls).toEqual(["sync a/session.jsonl", "rename b", "sync ."])
  },
)

test.skipIf(process.platform === "win32")(
  "a document and a blob appear in folders whose names are synced, and are synced before the acknowledgement",
  async () => {
    const { storage, files } = record(makeRoot())
    await fill(storage, "a", 1)
    files.calls.length = 0
    const version = await storage.docs.put("sessions/a/d", "text", { expect: null })
    expect(files.calls).toEqual(["mkdir a/docs", "sync a", "sync .", "sync ..", "rename a/docs/d", "sync a/docs"])
    files.calls.length = 0
    await storage.docs.put("sessions/a/d", "more", { expect: version })
    expect(files.calls).toEqual(["rename a/docs/d", "sync a/docs"])
    files.calls.length = 0
    const hash = await storage.blobs.put(new Uint8Array([1]))
    const [folder, path] = [`.blobs/${hash.slice(0, 2)}`, `.blobs/${hash.slice(0, 2)}/${hash}`]
    const made = ["mkdir .blobs", `mkdir ${folder}`, "sync .blobs", "sync ."]
    expect(files.calls).toEqual([...made, `rename ${path}`, `sync ${folder}`])
    files.calls.length = 0
    await storage.blobs.put(new Uint8Array([1]))
    expect(files.calls).toEqual([`sync ${folder}`])
  },
)

test("a replace removes the old log only after the new one is synced in its place", async () => {
  const { storage, files } = record(makeRoot(), { durability: "disk" })
  const head = await fill(storage, "a", 2)
  files.calls.length = 0
  await storage.replace?.("a", chunked(["new"]), { expect: head })
  const calls = files.calls.map((call) => call.replace(/~.*/, ""))
  expect(calls).toEqual(["rename .trash/a", "rename a", "sync .", "remove .trash/a"])
})

test("a sweep of another process leaves the old log until the new one is synced in its place", async () => {
  const root = makeRoot()
  const { storage, files } = record(root, { durability: "disk" })
  const head = await fill(storage, "a", 2)
  const other = createFileStorage({ root, lockTimeout: 1 })
  onTestFinished(() => other[Symbol.asyncDispose]())
  const fsync = files.fsync.bind(files)
  const swept: unknown[] = []
  files.fsync = async (fd) => {
    if (files.calls.includes("rename a") && swept.length === 0) swept.push(await other.sweep?.({}))
    return fsync(fd)
  }
  files.calls.length = 0
  await storage.replace?.("a", chunked(["new"]), { expect: head })
  expect(swept).toMatchObject([{ removed: 0, left: 1 }])
  expect(files.calls.map((call) => call.replace(/~.*/, ""))).toEqual([
    "rename .trash/a",
    "rename a",
    "sync .",
    "remove .trash/a",
  ])
})

for (const how of ["append", "sync"] as const) {
  test(`what a writer left unsynced is synced with its names before ${how} of another one is acknowledged`, async () => {
    const root = join(makeRoot(), "root")
    const files = createRecordingFiles(root)
    const first = createFileStorage({ root, files, maxPartBytes: 100 })
    await fill(first, "a", 8)
    await first[Symbol.asyncDispose]()
    expect(files.unsafe()).toContain("name a")
    const second = createFileStorage({ root, files, maxPartBytes: 100, durability: how === "append" ? "disk" : "os" })
    if (how === "append") await append(second, "a", 1)
    else await second.sync?.("a")
    expect(files.unsafe()).toEqual([])
    await second[Symbol.asyncDispose]()
  })
}

test("a sync ends without an error if the session is deleted meanwhile", async () => {
  const root = makeRoot()
  const { storage, files } = record(root)
  await fill(storage, "a", 2)
  const recorded = { ...files }
  let syncs = 0
  const syncThenDelete = async (sync: Promise<void>): Promise<void> => {
    await sync
    if (syncs++ === 0) fs.rmSync(join(root, "a"), { recursive: true })
  }
  files.fsync = (fd) => syncThenDelete(recorded.fsync(fd))
  files.fdatasync = (fd) => syncThenDelete(recorded.fdatasync(fd))
  await storage.sync?.("a")
  expect(syncs).toBeGreaterThan(0)
})

test("the bytes of a torn write are synced under their name before they are cut off", async () => {
  const root = makeRoot()
  const first = createFileStorage({ root })
  const head = await fill(first, "a", 2)
  await first[Symbol.asyncDispose]()
  fs.appendFileSync(join(root, "a", "session.jsonl"), "torn")
  const { storage, files } = record(root)
  const recorded = { ...files }
  let unsafe: readonly string[] | undefined
  files.truncate = (fd, size) => {
    unsafe ??= files.unsafe()
    recorded.truncate(fd, size)
  }
  await storage.append("a", [lineAt(2)], { expect: head })
  expect(unsafe).toEqual([])
  expect(await linesOf(storage, "a")).toEqual(linesTo(3))
})

test.skipIf(process.platform === "win32")(
  "a parent that may not be opened is an error only if durability disk would acknowledge a root that was made there",
  async () => {
    for (const durability of ["os", "disk"] as const) {
      for (const isNew of [true, false]) {
        const root = join(makeRoot(), "root")
        // Whatever the umask: a folder that a group may write is refused.
        if (!isNew) fs.mkdirSync(root, { mode: 0o755 })
        const { storage, files } = record(root, { durability })
        const recorded = { ...files }
        files.open = (path, flags, mode) => {
          if (path === dirname(root)) throw Object.assign(new Error("injected"), { code: "EACCES" })
          return recorded.open(path, flags, mode)
        }
        const done = fill(storage, "a", 1).then(() => storage.sync?.("a"))
        if (isNew && durability === "disk") await expect(done).rejects.toMatchObject({ code: "misconfigured" })
        else await expect(done).resolves.toBeUndefined()
      }
    }
  },
)

test.skipIf(process.platform === "win32")(
  "a parent for which Deno gave no permission is not touched, since it would prompt",
  async () => {
    const real = (globalThis as { Deno?: object }).Deno ?? null
    const permissions = { querySync: () => ({ state: "prompt" }) }
    vi.stubGlobal("Deno", Object.create(real, { permissions: { value: permissions } }))
    onTestFinished(() => void vi.unstubAllGlobals())
    const root = join(makeRoot(), "root")
    const { storage, files } = record(root)
    const touched: string[] = []
    const recorded = { ...files }
    files.open = (path, flags, mode) => {
      touched.push(path)
      return recorded.open(path, flags, mode)
    }
    files.lstat = (path) => {
      touched.push(path)
      return recorded.lstat(path)
    }
    await fill(storage, "a", 1)
    await storage.sync?.("a")
    expect(touched.filter((path) => !path.startsWith(root))).toEqual([])
    const strict = record(join(makeRoot(), "root"), { durability: "disk" }).storage
    await expect(fill(strict, "a", 1)).rejects.toMatchObject({ code: "misconfigured" })
  },
)

function record(
  root: string,
  options: Omit<FileStorageOptions, "root" | "files"> = {},
): { readonly storage: SessionStorage; readonly files: { -readonly [K in keyof Files]: Files[K] } & RecordingFiles } {
  const files = createRecordingFiles(root)
  const storage = createFileStorage({ ...options, root, files })
  onTestFinished(() => storage[Symbol.asyncDispose]())
  return { storage, files }
}

async function append(storage: SessionStorage, session: string, count: number): Promise<void> {
  let head = await headOf(storage, session)
  for (let i = 0; i < count; i++) head = await storage.append(session, [lineAt(head.next)], { expect: head })
}

async function headOf(storage: SessionStorage, session: string): Promise<{ next: number; log: string }> {
  const { next = 0, log = "" } = (await storage.head(session)) ?? {}
  return { next, log }
}
