/** Checkpoints and their session: not stored yet, deleted, evicted, imported; errors of the storage; what is not backed up. */
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { createSessions } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterEach, expect, onTestFinished, test, vi } from "vitest"
import { createCheckpoints, type WorkFiles } from "../src/index.ts"
import { createWorkspace } from "./helpers.ts"
import { createMemoryFiles } from "./memory-files.ts"

afterEach(() => vi.restoreAllMocks())

test("no byte may be written before the backup is acknowledged: a tool that is wrapped waits for it", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  const message = await w.begin()
  let acknowledge = (): void => undefined
  const waiting = new Promise<void>((resolve) => (acknowledge = resolve))
  const { docs } = w.storage
  const put = docs.put.bind(docs)
  const puts = vi.spyOn(docs, "put").mockImplementation(async (...args) => {
    await waiting
    return put(...args)
  })
  const edit = w.edit("a", "a1")
  await expect.poll(() => puts).toHaveBeenCalled()
  expect(w.read("a")).toBe("a0")
  acknowledge()
  await edit
  expect(w.read("a")).toBe("a1")
  await w.checkpoints.rewind(message)
  expect(w.read("a")).toBe("a0")
})

test.each(["docs", "blobs"] as const)(
  "with an error of the %s of the storage `track` rejects, and the tool does not write",
  async (part) => {
    using w = await createWorkspace()
    w.write("a", "a0")
    await w.begin()
    const failing = vi.spyOn(w.storage[part], "put").mockRejectedValue(new StorageError("quota", "The disk is full."))
    await expect(w.edit("a", "a1")).rejects.toMatchObject({ code: "quota" })
    expect(w.read("a")).toBe("a0")
    failing.mockRestore()
    await w.edit("a", "a1")
    expect(w.read("a")).toBe("a1")
  },
)

test("`begin` rejects with an error of the storage, and makes no snapshot", async () => {
  using w = await createWorkspace()
  await w.begin()
  await w.edit("a", "a1")
  const failing = vi.spyOn(w.storage.docs, "put").mockRejectedValue(new StorageError("unavailable", "No answer."))
  const message = await w.ask()
  await expect(w.checkpoints.begin(message)).rejects.toMatchObject({ code: "unavailable" })
  failing.mockRestore()
  expect(await w.checkpoints.list()).toHaveLength(1)
  await w.checkpoints.begin(message)
  expect(await w.checkpoints.list()).toHaveLength(2)
})

test("a put whose outcome is unknown is found out", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  const message = await w.begin()
  const { docs } = w.storage
  const put = docs.put.bind(docs)
  vi.spyOn(docs, "put").mockImplementationOnce(async (...args) => {
    await put(...args)
    throw new StorageError("indeterminate", "No answer.")
  })
  await w.edit("a", "a1")
  await w.restart()
  await w.checkpoints.rewind(message)
  expect(w.read("a")).toBe("a0")
})

test("`track` without `begin` since the start or the last rewind is invalid", async () => {
  using w = await createWorkspace()
  await expect(w.checkpoints.track("a")).rejects.toMatchObject({ code: "invalid" })
  const message = await w.begin()
  await w.checkpoints.track("a")
  await w.checkpoints.rewind(message)
  await expect(w.checkpoints.track("a")).rejects.toMatchObject({ code: "invalid" })
  await w.restart()
  await expect(w.checkpoints.track("a")).rejects.toMatchObject({ code: "invalid" })
})

test("deleting a session deletes its checkpoints, also if a backup is put after that", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  await w.begin()
  const other = createSessions({ storage: createMemoryStorage({ location: createMemoryLocation() }) })
  await other.close()
  const { docs } = w.storage
  const put = docs.put.bind(docs)
  vi.spyOn(docs, "put").mockImplementationOnce(async (...args) => {
    const version = await put(...args)
    const [key, text] = args
    await w.storage.delete(w.session.id)
    // As a store that took the document later does.
    await put(key, text, { expect: null })
    return version
  })
  await expect(w.edit("a", "a1")).rejects.toMatchObject({ code: "not_found" })
  expect(w.read("a")).toBe("a0")
  for await (const key of docs.list("sessions/")) expect(key).toBe("none")
})

test("checkpoints in another storage are deleted by their own `delete`", async () => {
  const location = createMemoryLocation()
  const own = createMemoryStorage({ location })
  const checkpoints = createCheckpoints({ storage: own, files: createMemoryFiles() })
  const hooks = { delete: ({ session }: { session: string }) => checkpoints.delete(session) }
  const sessions = createSessions({ storage: createMemoryStorage(), hooks })
  const session = await sessions.create()
  await checkpoints.of(session).begin("m1")
  await checkpoints.of(session).track("a")
  expect(checkpoints.of(session)).toBe(checkpoints.of(session))
  expect(location.docs.size).toBe(1)
  await sessions.delete(session.id)
  await expect.poll(() => location.docs.size).toBe(0)
})

test("an unknown or evicted message is not found, and the error names the oldest that is there", async () => {
  using w = await createWorkspace({ maxSnapshots: 2 })
  const unknown = w.checkpoints.rewind("nowhere")
  await expect(unknown).rejects.toMatchObject({ code: "not_found" })
  const messages = [await w.begin(), await w.begin(), await w.begin()]
  expect(await Promise.all(messages.map((message) => w.checkpoints.canRewind(message)))).toEqual([false, true, true])
  for (const call of [w.checkpoints.rewind(messages[0] as string), w.checkpoints.diff(messages[0] as string)])
    await expect(call).rejects.toMatchObject({
      code: "not_found",
      message: expect.stringContaining(messages[1] as string),
    })
})

test("a rewind keeps its target from eviction", async () => {
  using w = await createWorkspace({ maxSnapshots: 2 })
  w.write("a", "a0")
  const first = await w.begin()
  await w.edit("a", "a1")
  await w.begin()
  for (let again = 0; again < 3; again++) {
    await w.checkpoints.rewind(first)
    expect(w.read("a")).toBe("a0")
    expect(await w.checkpoints.list()).toHaveLength(2)
  }
})

test("a rewind that evicts a snapshot behind its target keeps the first records of files", async () => {
  using w = await createWorkspace({ maxSnapshots: 2 })
  const first = await w.begin()
  await w.begin()
  await w.edit("new", "n1")
  for (let again = 0; again < 2; again++) {
    await w.checkpoints.rewind(first)
    expect(w.read("new")).toBeUndefined()
  }
})

test("files that are too large or unreadable are named by `track`, `diff` and `rewind`, and left alone", async () => {
  using w = await createWorkspace({ maxFileBytes: 10 })
  w.write("large", "x".repeat(11))
  w.write("grows", "small")
  const message = await w.begin()
  expect(await w.checkpoints.track("large")).toEqual({ tracked: false, reason: "too_large" })
  expect(await w.checkpoints.track("grows")).toEqual({ tracked: true, version: 1 })
  w.write("large", "edited")
  w.write("grows", "x".repeat(11))
  const skipped = ["grows", "large"].map((path) => ({ path, reason: "too_large" }))
  expect(await w.checkpoints.diff(message)).toEqual(skipped.map((one) => ({ ...one, change: "skipped" })))
  const result = await w.checkpoints.rewind(message)
  expect([...result.skipped].sort((a, b) => (a.path < b.path ? -1 : 1))).toEqual(skipped)
  expect([w.read("large"), w.read("grows")]).toEqual(["edited", "x".repeat(11)])
})

test("a file that may not be read is `unreadable`; another error of the files rejects", async () => {
  using w = await createWorkspace()
  const files = createMemoryFiles()
  files.set("a", "a0")
  const checkpoints = createCheckpoints({ storage: w.storage, files }).of(w.session)
  await checkpoints.begin(await w.ask())
  const read = vi.spyOn(files, "read")
  read.mockRejectedValueOnce(Object.assign(new Error("no"), { code: "EIO" }))
  await expect(checkpoints.track("a")).rejects.toThrow("no")
  read.mockRejectedValueOnce(Object.assign(new Error("no"), { code: "EACCES" }))
  expect(await checkpoints.track("a")).toEqual({ tracked: false, reason: "unreadable" })
})

test("a file in a folder that may not be entered keeps no other file from a snapshot and a rewind", async () => {
  using w = await createWorkspace()
  const files = createMemoryFiles()
  files.set("a", "a0")
  files.set("closed/b", "b0")
  let isClosed = false
  const work: WorkFiles = {
    ...files,
    async stat(path) {
      if (isClosed && path.startsWith("closed/")) throw Object.assign(new Error("no"), { code: "EACCES" })
      return files.stat(path)
    },
  }
  const checkpoints = createCheckpoints({ storage: w.storage, files: work }).of(w.session)
  const first = await w.ask()
  await checkpoints.begin(first)
  for (const path of ["a", "closed/b"]) await checkpoints.track(path)
  files.set("a", "a1")
  isClosed = true
  await checkpoints.begin(await w.ask())
  expect(await checkpoints.track("closed/new")).toEqual({ tracked: false, reason: "unreadable" })
  const skipped = ["closed/b", "closed/new"].map((path) => ({ path, reason: "unreadable" }))
  expect(await checkpoints.rewind(first)).toMatchObject({ restored: ["a"], skipped, failed: [] })
  expect(await checkpoints.diff(first)).toContainEqual({ path: "a", change: "none" })
})

test("a tracked file is read again only if its size, time or identity changed, or if it was changed within 2 s", async () => {
  using w = await createWorkspace()
  const files = createMemoryFiles()
  const checkpoints = createCheckpoints({ storage: w.storage, files }).of(w.session)
  // The clock stands: a machine that takes long must not make the young file old.
  const now = Date.now()
  vi.spyOn(Date, "now").mockReturnValue(now)
  files.set("old", "1")
  files.set("young", "1", now - 1_999)
  files.set("changed", "1")
  await checkpoints.begin(await w.ask())
  for (const path of ["old", "young", "changed"]) await checkpoints.track(path)
  files.set("changed", "2")
  await checkpoints.begin(await w.ask())
  await checkpoints.begin(await w.ask())
  expect(Object.fromEntries(files.reads)).toEqual({ old: 1, young: 3, changed: 2 })
})

test("versions count from 1, and only changed contents are stored again", async () => {
  using w = await createWorkspace()
  w.write("a", "a0")
  await w.begin()
  expect(await w.checkpoints.track("a")).toEqual({ tracked: true, version: 1 })
  await w.begin()
  w.write("a", "a1")
  await w.begin()
  expect(await w.checkpoints.track("a")).toEqual({ tracked: true, version: 2 })
  const versions = (await w.checkpoints.list()).map(({ files }) => files.map(({ version }) => version))
  expect(versions).toEqual([[2], [], [1]])
  let blobs = 0
  for await (const _ of w.storage.blobs.list()) blobs++
  expect(blobs).toBe(2)
})

test("snapshots are in the order in which they were made, also if the clock is set back", async () => {
  using w = await createWorkspace()
  await w.begin()
  vi.spyOn(Date, "now").mockReturnValue(Date.now() - 86_400_000)
  await w.edit("a", "a1")
  const second = await w.begin()
  await w.edit("a", "a2")
  expect((await w.checkpoints.list())[0]?.messageId).toBe(second)
  await w.checkpoints.rewind(second)
  expect(w.read("a")).toBe("a1")
})

test("file snapshots of an imported log can be rewound to; paths outside the folder are left alone", async () => {
  using w = await createWorkspace()
  const hash = await w.storage.blobs.put(new TextEncoder().encode("imported"))
  const message = await w.ask()
  const outside = `${w.root}-outside`
  fs.writeFileSync(outside, "not ours")
  onTestFinished(() => fs.rmSync(outside))
  const files = {
    a: { blob: `sha256:${hash}`, version: 1 },
    [join(w.root, "new")]: { blob: null, version: 1 },
    "/etc/passwd": { blob: `sha256:${hash}`, version: 1 },
    [`../${basename(outside)}`]: { blob: null, version: 1 },
  }
  await w.session.append({ type: "file_snapshot", messageId: message, files })
  w.write("a", "now")
  w.write("new", "now")
  expect(await w.checkpoints.canRewind(message)).toBe(true)
  const { undo, ...result } = await w.checkpoints.rewind(message)
  expect(result).toMatchObject({ restored: ["a"], removed: ["new"], failed: [] })
  expect(result.skipped.map(({ path }) => path).sort()).toEqual([`../${basename(outside)}`, "/etc/passwd"])
  expect(w.read("a")).toBe("imported")
  await w.checkpoints.rewind(undo as string)
  expect([w.read("a"), w.read("new")]).toEqual(["now", "now"])
  expect(fs.readFileSync(outside, "utf8")).toBe("not ours")
})

test("wrong options are invalid", () => {
  const options = { storage: createMemoryStorage(), files: createMemoryFiles() }
  for (const wrong of [{ maxSnapshots: 1 }, { maxFileBytes: -1 }, { maxSnapshot: 5 }, { files: undefined }])
    expect(() => createCheckpoints({ ...options, ...wrong } as typeof options)).toThrow(/createCheckpoints/)
})
