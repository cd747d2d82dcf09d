/** What a deletion leaves behind when its process dies or the removal fails, and who removes that. */
import * as fs from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { systemError } from "./faulty-files.ts"
import { chunked, fill, filesBelow, linesOf, linesTo, makeRoot, openAt } from "./helpers.ts"
import { killOwners } from "./subject.ts"

const SECRET = "SECRET-OF-THE-SESSION"
const PURGED = { bytes: 0, parts: 0, purged: true }

test("a deletion whose process dies before the removal is finished by a repeated one", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  await storage.append("a", [SECRET], { expect: 0 })
  const reached = new Promise<void>((resolve) => {
    files.fault = ({ op }, proceed) => {
      if (op !== "remove") return proceed()
      resolve()
      return new Promise(() => undefined)
    }
  })
  void storage.delete("a")
  await reached
  expect(isStored(root)).toBe(true)
  killOwners(join(root, ".locks"))
  const again = openAt(root).storage
  expect(await again.delete("a")).toEqual(PURGED)
  expect(isStored(root)).toBe(false)
  expect(await again.delete("a")).toEqual(PURGED)
})

test("what any call finds of earlier deletions is removed before the storage is closed", async () => {
  for (const first of ["append", "list", "head", "delete"] as const) {
    const root = await withTrash()
    const { storage } = openAt(root)
    if (first === "append") await fill(storage, "c", 1)
    if (first === "list") for await (const _ of storage.list()) continue
    if (first === "head") await storage.head("b")
    if (first === "delete") await storage.delete("c")
    await storage[Symbol.asyncDispose]()
    expect(isStored(root), first).toBe(false)
  }
})

test("a removal that fails is reported, and again until it succeeds", async () => {
  const root = await withTrash()
  const { storage, files } = openAt(root)
  files.fault = ({ op }, proceed) => {
    if (op !== "remove") return proceed()
    throw systemError("EACCES")
  }
  expect(await storage.delete("a")).toEqual({ bytes: 0, parts: 0, purged: false })
  expect(await storage.delete("c")).toEqual(PURGED)
  files.fault = undefined
  expect(await storage.delete("a")).toEqual(PURGED)
  expect(isStored(root)).toBe(false)
})

test("a trash that cannot be read is not taken for an empty one", async () => {
  const root = await withTrash()
  const { storage, files } = openAt(root)
  await fill(storage, "a", 1)
  files.fault = ({ op, path }, proceed) => {
    if (op === "readdir" && path.endsWith(".trash")) throw systemError("EACCES")
    return proceed()
  }
  expect(await storage.delete("a")).toMatchObject({ parts: 1, purged: false })
  files.fault = undefined
})

test("the delete of a session removes what a creation of it left in `.new`, and nothing of others", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  await fill(storage, "b", 1)
  files.fault = ({ op }, proceed) => {
    if (op === "rename" || op === "remove") throw systemError("EIO")
    return proceed()
  }
  await expect(storage.append("a", [SECRET], { expect: 0 })).rejects.toMatchObject({ code: "unavailable" })
  files.fault = undefined
  fs.mkdirSync(join(root, ".new", "a.b~other"))
  expect(isStored(root)).toBe(true)
  expect(await storage.delete("a")).toEqual(PURGED)
  expect(isStored(root)).toBe(false)
  expect(fs.readdirSync(join(root, ".new"))).toEqual(["a.b~other"])
})

test("a replacement that fails has its old log back whole, or reports an unknown outcome, while others empty the trash", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  const head = await fill(storage, "a", 3)
  let swept: Promise<void> | undefined
  files.fault = ({ op, path }, proceed) => {
    if (op !== "rename" || path !== join(root, "a") || swept !== undefined) return proceed()
    // The old log is in the trash, and the new one is about to take its place.
    const other = openAt(root).storage
    swept = other.head("x").then(() => other[Symbol.asyncDispose]())
    throw systemError("EIO")
  }
  const outcome = storage.replace?.("a", chunked(["one", "two"]), { expect: head })
  await expect(outcome).rejects.toMatchObject({ code: expect.stringMatching(/unavailable|indeterminate/) as string })
  await swept
  files.fault = undefined
  await storage[Symbol.asyncDispose]()
  expect([linesTo(3), ["one", "two"]]).toContainEqual(await linesOf(openAt(root).storage, "a"))
})

/** A root in which the removal of session a has failed. */
async function withTrash(): Promise<string> {
  const root = makeRoot()
  const { storage, files } = openAt(root)
  await storage.append("a", [SECRET], { expect: 0 })
  await fill(storage, "b", 1)
  files.fault = ({ op }, proceed) => {
    if (op !== "remove") return proceed()
    throw systemError("EACCES")
  }
  expect(await storage.delete("a")).toMatchObject({ parts: 1, purged: false })
  expect(isStored(root)).toBe(true)
  files.fault = ({ op }, proceed) => {
    if (op === "rename") throw systemError("EACCES")
    return proceed()
  }
  await storage[Symbol.asyncDispose]()
  files.fault = undefined
  return root
}

function isStored(root: string): boolean {
  return filesBelow(root).some((path) => fs.readFileSync(join(root, path), "utf8").includes(SECRET))
}
