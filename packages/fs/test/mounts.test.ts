/** A disk that is really full, and one that is really read-only: small file systems in memory, where this user may mount them. */
import * as fs from "node:fs"
import { join } from "node:path"
import type { Head } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { chunked, fill, lineAt, linesOf, linesTo, openAt } from "./helpers.ts"
import { cannotMount, makeReadOnly, mountOverlay, mountTmpfs } from "./tmpfs.ts"

const leftOut = cannotMount()

for (const durability of ["os", "disk"] as const) {
  test.skipIf(leftOut)(
    `durability ${durability}: on a full disk an append is \`quota\`, nothing acknowledged is lost, and it works again once there is room`,
    async () => {
      const root = mountTmpfs("size=300k")
      fs.writeFileSync(join(root, "ballast"), new Uint8Array(50_000))
      const { storage } = openAt(root, { durability, maxPartBytes: 100_000 })
      let head: Head | 0 = 0
      const lines: string[] = []
      let refused: unknown
      while (refused === undefined) {
        const batch = [lineAt(lines.length, 900), lineAt(lines.length + 1, 900)]
        try {
          head = await storage.append("a", batch, { expect: head })
          lines.push(...batch)
        } catch (error) {
          refused = error
        }
      }
      expect(refused).toMatchObject({ code: "quota", session: "a" })
      expect(lines.length).toBeGreaterThan(50)
      expect(await linesOf(storage, "a")).toEqual(lines)
      for (let again = 0; again < 3; again++) {
        await expect(storage.append("a", linesTo(9, 900), { expect: head })).rejects.toMatchObject({ code: "quota" })
      }
      expect(await linesOf(openAt(root).storage, "a")).toEqual(lines)

      fs.unlinkSync(join(root, "ballast"))
      head = await storage.append("a", ["on"], { expect: head })
      expect(await linesOf(openAt(root).storage, "a")).toEqual([...lines, "on"])
      expect(await storage.head("a")).toMatchObject({ ...head, next: lines.length + 1 })
    },
  )
}

test.skipIf(leftOut)("deleting a session makes room on a disk that has none left", async () => {
  const root = mountTmpfs("size=300k")
  const first = openAt(root)
  await fill(first.storage, "big", 60, 900)
  await fill(first.storage, "small", 2)
  await first.storage[Symbol.asyncDispose]()
  fillUp(root)
  const { storage } = openAt(root)
  expect(await storage.delete("big")).toMatchObject({ parts: 1 })
  const now = await storage.head("small")
  await storage.append("small", [lineAt(2)], { expect: { next: 2, log: now?.log ?? "" } })
  expect(await linesOf(storage, "small")).toEqual(linesTo(3))
})

test.skipIf(leftOut)(
  "a file system that is mounted read-only reads like any other, and says of writes what is wrong",
  async () => {
    const root = mountTmpfs("size=1m")
    const writer = openAt(root).storage
    const head = await fill(writer, "a", 3)
    await writer.docs.put("pointers", "text", { expect: null })
    await writer[Symbol.asyncDispose]()
    makeReadOnly(root)
    const { storage } = openAt(root)
    expect(await linesOf(storage, "a")).toEqual(linesTo(3))
    for await (const row of storage.list()) expect(row).toMatchObject({ id: "a", ...head })
    expect((await storage.docs.get("pointers"))?.text).toBe("text")
    const refused = { code: "misconfigured", message: expect.stringContaining("read-only") as string }
    await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject(refused)
    await expect(storage.append("b", ["x"], { expect: 0 })).rejects.toMatchObject(refused)
    await expect(storage.delete("a")).rejects.toMatchObject(refused)
    await expect(storage.docs.put("pointers", "new", { expect: null })).rejects.toMatchObject(refused)
    await expect(storage.blobs.put(new Uint8Array([1]))).rejects.toMatchObject(refused)
    expect(await linesOf(storage, "a")).toEqual(linesTo(3))
  },
)

/** Until not even one byte more can be written. */
function fillUp(root: string): void {
  const fd = fs.openSync(join(root, "ballast"), "w")
  for (let size = 65_536; size >= 1; ) {
    try {
      if (fs.writeSync(fd, new Uint8Array(size)) < size) size = Math.floor(size / 2)
    } catch {
      size = Math.floor(size / 2)
    }
  }
  fs.closeSync(fd)
}

test.skipIf(leftOut)(
  "a session of an image layer, which overlayfs lets nobody rename, is deleted and replaced",
  async () => {
    const place = mountTmpfs("size=4m")
    for (const name of ["lower", "upper", "work", "merged"]) fs.mkdirSync(join(place, name))
    const image = openAt(join(place, "lower", "s"), { maxPartBytes: 500 }).storage
    const head = await fill(image, "a", 10, 100)
    await fill(image, "b", 3)
    await image.docs.put("sessions/a/note", "text", { expect: null })
    await image[Symbol.asyncDispose]()
    const merged = mountOverlay(place)
    const { storage } = openAt(join(merged, "s"), { maxPartBytes: 500 })
    await storage.replace?.("a", chunked(["one", "two"]), { expect: head })
    expect(await linesOf(storage, "a")).toEqual(["one", "two"])
    expect((await storage.docs.get("sessions/a/note"))?.text).toBe("text")
    expect(await storage.delete("b")).toMatchObject({ parts: 1, purged: true })
    expect(await storage.delete("a")).toMatchObject({ purged: true })
    for await (const row of storage.list()) expect(row).toBeUndefined()
    await fill(storage, "b", 2)
    await storage[Symbol.asyncDispose]()
    expect(await linesOf(openAt(join(merged, "s")).storage, "b")).toEqual(linesTo(2))
  },
)

test.skipIf(leftOut)("blobs on a volume of their own are put, got and deleted", async () => {
  const root = mountTmpfs("size=1m")
  fs.mkdirSync(join(root, ".blobs"))
  mountTmpfs("size=1m", join(root, ".blobs"))
  const { storage } = openAt(root)
  const hash = await storage.blobs.put(new Uint8Array([1, 2, 3]))
  expect(await storage.blobs.get(hash)).toEqual(new Uint8Array([1, 2, 3]))
  expect(fs.readdirSync(join(root, ".new"))).toEqual([])
  expect(fs.readdirSync(join(root, ".blobs", hash.slice(0, 2)))).toEqual([hash])
  expect(await storage.blobs.delete(hash)).toBe(true)
})

test.skipIf(leftOut)("where no inode is left, sessions and blobs are deleted, and present sessions go on", async () => {
  const root = mountTmpfs("size=4m,nr_inodes=80")
  const before = openAt(root).storage
  for (const id of ["a", "b", "c"]) await fill(before, id, 2)
  const hash = await before.blobs.put(new Uint8Array([1]))
  await before[Symbol.asyncDispose]()
  expect(() => {
    for (let n = 0; ; n++) fs.writeFileSync(join(root, `ballast${n}`), "")
  }).toThrow("ENOSPC")
  const { storage } = openAt(root)
  await expect(storage.append("d", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "quota" })
  const head = await storage.head("b")
  await storage.append("b", [lineAt(2)], { expect: { next: 2, log: head?.log ?? "" } })
  expect(await storage.blobs.delete(hash)).toBe(true)
  expect(await storage.delete("a")).toMatchObject({ parts: 1, purged: true })
  expect(await linesOf(storage, "b")).toEqual(linesTo(3))
  expect(await linesOf(storage, "c")).toEqual(linesTo(2))
})
