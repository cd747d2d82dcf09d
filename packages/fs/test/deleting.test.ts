/** What a deletion leaves behind when its process dies or the removal fails, and who removes that. */
import * as fs from "node:fs"
import { basename, join } from "node:path"
import { expect, test } from "vitest"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { dead, type Fault, type FaultyFiles, isChange, systemError } from "./faulty-files.ts"
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

/** As overlayfs does for folders of an image layer: the session's own folder can be renamed to nowhere. */
function cannotMove(root: string, session: string): Fault {
  return ({ op, path }, proceed) => {
    const isMove = op === "rename" && basename(path).startsWith(`${session}~`) && fs.existsSync(join(root, session))
    if (isMove) throw systemError("EXDEV")
    return proceed()
  }
}

test("a session whose folder cannot be renamed is deleted in place, and its id is free", async () => {
  const root = makeRoot()
  const { storage, files } = openAt(root, { maxPartBytes: 400 })
  await fill(storage, "a", 6, 100)
  await storage.append("a", [SECRET], { expect: (await storage.head("a")) as Head })
  await storage.docs.put("sessions/a/note", "text", { expect: null })
  files.fault = cannotMove(root, "a")
  expect(await storage.delete("a")).toMatchObject({ purged: true })
  expect(fs.existsSync(join(root, "a"))).toBe(false)
  expect(isStored(root)).toBe(false)
  expect(await storage.head("a")).toBeUndefined()
  await fill(storage, "a", 2)
  expect(await linesOf(openAt(root).storage, "a")).toEqual(linesTo(2))
})

test("a deletion in place that a crash interrupts before any step leaves the session whole or none, for each call", async () => {
  let steps = 0
  let isDone = false
  for (let at = 0; !isDone && at < 100; at++) {
    const root = makeRoot()
    const { storage, files } = openAt(root, { maxPartBytes: 400 })
    await fill(storage, "a", 6, 100)
    await storage.docs.put("sessions/a/note", "text", { expect: null })
    let left = at
    const move = cannotMove(root, "a")
    files.fault = (call, proceed) => {
      if (!isChange(call) || call.path.includes(".locks") || left-- > 0) return move(call, proceed)
      whenDead.get(files)?.()
      files.fault = dead()
      return files.fault(call, proceed)
    }
    const deleting = storage.delete("a").then(
      () => true,
      () => false,
    )
    isDone = (await diedOrDone(files, deleting)) && left >= 0
    if (isDone) break
    steps++
    killOwners(join(root, ".locks"))
    const after = openAt(root, { maxPartBytes: 400 }).storage
    const head = await after.head("a")
    const listed = []
    for await (const row of after.list()) listed.push(row.error ?? row.id)
    expect(listed, `step ${at}`).toEqual(head === undefined ? [] : ["a"])
    expect((await after.docs.get("sessions/a/note"))?.text, `step ${at}`).toBe(head && "text")
    expect(await keysOf(after), `step ${at}`).toEqual(head === undefined ? [] : ["sessions/a/note"])
    if (head !== undefined) {
      expect(await linesOf(after, "a")).toEqual(linesTo(6, 100))
      continue
    }
    if (at % 2 === 0) {
      await fill(after, "a", 2)
      expect(await after.docs.get("sessions/a/note")).toBeUndefined()
      expect(await linesOf(after, "a")).toEqual(linesTo(2))
    } else {
      await after.sweep?.()
      expect(fs.existsSync(join(root, "a"))).toBe(false)
    }
  }
  expect(isDone).toBe(true)
  expect(steps).toBeGreaterThan(5)
})

test("a log whose folder cannot be renamed is replaced in place; a crash leaves the old log or the new one", async () => {
  let steps = 0
  let isDone = false
  for (let at = 0; !isDone && at < 100; at++) {
    const root = makeRoot()
    const { storage, files } = openAt(root, { maxPartBytes: 400 })
    const head = await fill(storage, "a", 6, 100)
    await storage.docs.put("sessions/a/note", "text", { expect: null })
    let left = at
    const move = cannotMove(root, "a")
    files.fault = (call, proceed) => {
      if (!isChange(call) || call.path.includes(".locks") || left-- > 0) return move(call, proceed)
      whenDead.get(files)?.()
      files.fault = dead()
      return files.fault(call, proceed)
    }
    const replacing = (storage.replace as NonNullable<typeof storage.replace>)("a", chunked(["one", "two"]), {
      expect: head,
    }).then(
      () => true,
      () => false,
    )
    isDone = (await diedOrDone(files, replacing)) && left >= 0
    killOwners(join(root, ".locks"))
    const after = openAt(root, { maxPartBytes: 400 }).storage
    const lines = await linesOf(after, "a")
    if (isDone) expect(lines).toEqual(["one", "two"])
    else expect([linesTo(6, 100), ["one", "two"]], `step ${at}`).toContainEqual(lines)
    expect((await after.docs.get("sessions/a/note"))?.text, `step ${at}`).toBe("text")
    const now = (await after.head("a")) as Head
    await after.append("a", ["on"], { expect: { next: now.next, log: now.log } })
    expect(await linesOf(after, "a")).toEqual([...lines, "on"])
    expect((await after.docs.get("sessions/a/note"))?.text, `step ${at}`).toBe("text")
    steps++
  }
  expect(isDone).toBe(true)
  expect(steps).toBeGreaterThan(10)
})

const whenDead = new WeakMap<FaultyFiles, () => void>()

/** False once the files do nothing any more: what waits for them waits for ever. */
function diedOrDone(files: FaultyFiles, done: Promise<boolean>): Promise<boolean> {
  const diedThen = new Promise<boolean>((resolve) => whenDead.set(files, () => setTimeout(resolve, 5, false)))
  return Promise.race([done, diedThen])
}

async function keysOf(storage: SessionStorage): Promise<string[]> {
  const keys: string[] = []
  for await (const key of storage.docs.list("sessions/")) keys.push(key)
  return keys
}

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
