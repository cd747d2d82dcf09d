import * as fs from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { chunked, fill, filesBelow, lineAt, linesIn, linesOf, linesTo, makeRoot, openAt } from "../test/helpers.ts"
import { createFileStorage, type FileStorageOptions } from "./index.ts"

test("reading, listing and deleting in a root that is not there yields nothing and makes nothing", async () => {
  const root = join(makeRoot(), "not", "yet")
  const { storage } = openAt(root)
  expect(await linesOf(storage, "a")).toEqual([])
  expect(await storage.head("a")).toBeUndefined()
  expect(await storage.delete("a")).toEqual({ bytes: 0, parts: 0, purged: true })
  for await (const row of storage.list()) expect.unreachable(row.id)
  for await (const key of storage.docs.list()) expect.unreachable(key)
  for await (const blob of storage.blobs.list()) expect.unreachable(blob.hash)
  expect(fs.existsSync(root)).toBe(false)
  await fill(storage, "a", 1)
  expect(fs.existsSync(join(root, "a", "session.jsonl"))).toBe(true)
})

test("a file where the root should be is told by every call, and stays as it is", async () => {
  const root = join(makeRoot(), "file")
  fs.writeFileSync(root, "mine")
  const { storage } = openAt(root)
  const calls = [
    async () => {
      for await (const row of storage.list()) expect.unreachable(row.id)
    },
    () => storage.append("a", linesTo(1), { expect: 0 }),
    () => storage.docs.put("pointer", "{}", { expect: null }),
  ]
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "misconfigured" })
  expect(fs.readFileSync(root, "utf8")).toBe("mine")
})

test.skipIf(!fs.existsSync("/proc/self"))(
  "a root that no folder can be made in is told, not asked for ever",
  async () => {
    const { storage } = openAt("/proc/nothing/can/be/made/here")
    await expect(storage.append("a", linesTo(1), { expect: 0 })).rejects.toMatchObject({
      code: "misconfigured",
      message: expect.stringContaining("cannot be made") as string,
    })
  },
)

test("files are 0600 and folders 0700, whatever the storage makes", async () => {
  const root = join(makeRoot(), "root")
  const { storage } = openAt(root, { maxPartBytes: 100 })
  const head = await fill(storage, "a", 20)
  await storage.docs.put("sessions/a/labels", "{}", { expect: null })
  await storage.docs.put("pointers", "{}", { expect: null })
  await storage.blobs.put(new Uint8Array([1]))
  await storage.replace?.("a", chunked(linesTo(9)), { expect: head })
  await storage[Symbol.asyncDispose]()
  for (const entry of fs.readdirSync(root, { recursive: true, withFileTypes: true })) {
    const { mode } = fs.statSync(join(entry.parentPath, entry.name))
    expect([entry.name, (mode & 0o777).toString(8)]).toEqual([entry.name, entry.isDirectory() ? "700" : "600"])
  }
  expect((fs.statSync(root).mode & 0o777).toString(8)).toBe("700")
})

test("a log goes on in parts that say where they begin, a batch always whole in one", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { maxPartBytes: 100 })
  let head = await storage.append("a", linesTo(3), { expect: 0 })
  for (let seq = 3; seq < 40; seq++) head = await storage.append("a", [lineAt(seq)], { expect: head })
  const info = await storage.head("a")
  expect(info?.next).toBe(40)
  expect(info?.parts?.length).toBeGreaterThan(5)
  for (const part of info?.parts ?? []) {
    const text = fs.readFileSync(part.at ?? "", "utf8")
    expect(text.length).toBe(part.bytes)
    expect(text.length).toBeLessThanOrEqual(100)
    expect(JSON.parse(text.split("\n", 1)[0] ?? "")).toMatchObject({ seq: part.from })
  }
  expect(await linesOf(storage, "a")).toEqual(linesTo(40))
  for (let from = 0; from < 40; from += 7) {
    expect(await linesOf(storage, "a", { from, to: from + 9 })).toEqual(linesTo(40).slice(from, from + 9))
    for (const maxBytes of [1, 60, 150, 400, 100_000]) {
      const window = linesIn(linesTo(from), maxBytes)
      expect(await linesOf(storage, "a", { maxBytes, before: from })).toEqual(window)
    }
  }
})

test("a folder that was copied in with its log alone has one identity, for every reader, before and after its first write", async () => {
  const root = makeRoot()
  fs.mkdirSync(join(root, "copied"))
  fs.writeFileSync(join(root, "copied", "session.jsonl"), `${linesTo(5).join("\n")}\n`)
  const before = await openAt(root).storage.head("copied")
  const { storage } = openAt(root)
  expect(await storage.head("copied")).toMatchObject({ next: 5, log: before?.log })
  const head = await storage.append("copied", [lineAt(5)], { expect: { next: 5, log: before?.log ?? "" } })
  expect(head.log).toBe(before?.log)
  expect(await openAt(root).storage.head("copied")).toMatchObject(head)
})

test("what is no session is not listed, and links are not followed", async () => {
  const root = makeRoot()
  const outside = makeRoot()
  fs.writeFileSync(join(outside, "session.jsonl"), "secret\n")
  fs.symlinkSync(outside, join(root, "link"))
  fs.mkdirSync(join(root, "notes"))
  fs.writeFileSync(join(root, "notes", "readme.txt"), "mine")
  fs.writeFileSync(join(root, "file"), "mine")
  fs.mkdirSync(join(root, "with-link"))
  fs.symlinkSync(join(outside, "session.jsonl"), join(root, "with-link", "session.jsonl"))
  const { storage } = openAt(root)
  await fill(storage, "real", 2)
  const ids: string[] = []
  for await (const row of storage.list()) ids.push(row.id)
  expect(ids).toEqual(["real"])
  for (const id of ["link", "with-link"]) expect(await linesOf(storage, id)).toEqual([])
  await expect(storage.append("link", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "misconfigured" })
  await expect(storage.docs.put("sessions/link/d", "x", { expect: null })).rejects.toMatchObject({
    code: "misconfigured",
  })
  expect(await storage.delete("link")).toEqual({ bytes: 0, parts: 0, purged: true })
  expect(filesBelow(outside)).toEqual(["session.jsonl"])
  expect(fs.readFileSync(join(outside, "session.jsonl"), "utf8")).toBe("secret\n")
  expect(fs.readFileSync(join(root, "notes", "readme.txt"), "utf8")).toBe("mine")
})

test("a part that is missing in the middle is `corrupt` where it is read, and nowhere else", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { maxPartBytes: 100 })
  await fill(storage, "a", 30)
  await storage[Symbol.asyncDispose]()
  const parts = (await openAt(root).storage.head("a"))?.parts ?? []
  const gone = parts[2]
  fs.unlinkSync(gone?.at ?? "")
  const reader = openAt(root).storage
  expect(await linesOf(reader, "a", { to: gone?.from ?? 0 })).toEqual(linesTo(gone?.from ?? 0))
  const after = parts[3]?.from ?? 0
  expect(await linesOf(reader, "a", { from: after })).toEqual(linesTo(30).slice(after))
  await expect(linesOf(reader, "a")).rejects.toMatchObject({ code: "corrupt", session: "a" })
})

test("bytes that are no UTF-8 are `corrupt` and say where, the lines before them can be read", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  await fill(storage, "a", 2)
  const path = join(root, "a", "session.jsonl")
  fs.appendFileSync(path, Buffer.from([0x22, 0xff, 0x22, 0x0a]))
  const at = Buffer.byteLength(`${linesTo(2).join("\n")}\n`)
  await expect(linesOf(storage, "a")).rejects.toMatchObject({ code: "corrupt", at: `${path}:${at}` })
  expect(await linesOf(storage, "a", { to: 2 })).toEqual(linesTo(2))
})

test("a root that may not be written is `misconfigured` and says what to do", async () => {
  const root = makeRoot()
  fs.writeFileSync(join(root, "file"), "")
  const storage = createFileStorage({ root: join(root, "file") })
  await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({
    code: "misconfigured",
    session: "a",
    message: expect.stringMatching(/move it away or choose another root/),
  })
})

test.each([
  [undefined, "createFileStorage takes an object with the options root, durability,"],
  ["./sessions", "createFileStorage takes an object with the options root, durability,"],
  [{}, "File storage needs `root`, the path of a folder."],
  [{ root: "" }, "File storage needs `root`, the path of a folder."],
  [{ root: "x", durabilty: "disk" }, 'createFileStorage has no option "durabilty". Did you mean "durability"?'],
  [{ root: "x", durability: "dsik" }, '`durability` is "os" or "disk", not "dsik".'],
  [{ root: "x", maxPartBytes: 0 }, "`maxPartBytes` must be a whole number above 0, not 0."],
  [{ root: "x", lockTimeout: 1.5 }, "`lockTimeout` must be a whole number above 0, not 1.5."],
  [{ root: "x", files: null }, "`files` must be an object"],
  [{ root: "x", decodeLines: 5 }, "`decodeLines` a function."],
])("wrong options are `invalid`, with a sentence that says what to do: %j", (options, message) => {
  expect(() => createFileStorage(options as FileStorageOptions)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) }),
  )
})

test("open files stay few over many sessions, and none is left when the storage is disposed of", async () => {
  const { storage, files } = openAt(makeRoot())
  for (let i = 0; i < 300; i++) {
    await storage.append(`s${i}`, ["x"], { expect: 0 })
    for await (const chunk of storage.read(`s${i}`)) if (chunk.lines.length > 0) break
    expect(files.opened.size).toBeLessThanOrEqual(70)
  }
  await storage[Symbol.asyncDispose]()
  expect(files.opened.size).toBe(0)
})
