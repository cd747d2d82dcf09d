/** Commits that fail: the outcome is found out, and unknown only if the disk fails altogether or another writer has undone the change. */
import type { Chunk, SessionStorage } from "@sessions/core/storage"
import type { SqliteDatabase } from "@sessions/sqlite"
import { describe, expect, test } from "vitest"
import { openDatabase } from "../src/driver/library.ts"
import { fill, lineAt, linesOf, linesTo, newPath, openAt, openWithCommits } from "./helpers.ts"

type Fault = (commit: () => unknown) => unknown

const IOERR = Object.assign(new Error("disk I/O error"), { errcode: 10, errno: 10 })
const fail = (): never => {
  throw IOERR
}

/** Opens files whose next commits go through these faults, one each. */
function withFaults(faults: Fault[]): (path: string) => SqliteDatabase {
  return (path) =>
    openWithCommits(path, (commit) => {
      const fault = faults.shift()
      return fault === undefined ? commit() : fault(commit)
    })
}

test("an append whose commit fails with an I/O error is found out: stored", async () => {
  const faults: Fault[] = []
  const storage = openAt(newPath(), { open: withFaults(faults) })
  const head = await fill(storage, "a", 2)
  faults.push((commit) => {
    commit()
    return fail()
  })
  expect(await storage.append("a", ["x"], { expect: head })).toEqual({ next: 3, log: head.log })
  expect(await linesOf(storage, "a")).toEqual([...linesTo(2), "x"])
})

test("an append whose commit fails with an I/O error is found out: not stored, now or later", async () => {
  const faults: Fault[] = []
  const storage = openAt(newPath(), { open: withFaults(faults) })
  const head = await fill(storage, "a", 2)
  faults.push(fail)
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("The disk reported an error") as string,
  })
  expect(await linesOf(storage, "a")).toEqual(linesTo(2))
  await storage.append("a", ["y"], { expect: head })
  expect(await linesOf(storage, "a")).toEqual([...linesTo(2), "y"])
})

test("a creation whose commit fails with an I/O error is found out: not stored", async () => {
  const faults: Fault[] = []
  const storage = openAt(newPath(), { open: withFaults(faults) })
  await fill(storage, "other", 1)
  faults.push(fail)
  await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "unavailable" })
  expect(await storage.head("a")).toBeUndefined()
})

describe("a change whose commit fails with an I/O error is `indeterminate` if another writer has undone it since", () => {
  const DELETED = "UPDATE session SET id = NULL WHERE id = 'a'"
  const CREATED = "INSERT INTO session (id, log, next, bytes, updated_at) VALUES ('a', 'x', 1, 2, 0)"
  const indeterminate = { code: "indeterminate" }

  test("a creation and an append, by the end of the log", async () => {
    const { storage, undo } = await withOther()
    undo(DELETED)
    await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject(indeterminate)
    const head = await fill(storage, "a", 2)
    undo(`${DELETED}; ${CREATED}`)
    await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject(indeterminate)
  })

  test("a replace, by the end of the new log", async () => {
    const { storage, undo } = await withOther()
    const head = await fill(storage, "a", 2)
    undo(DELETED, { after: 2 })
    const lines = async function* (): AsyncGenerator<Chunk> {
      yield { from: 0, lines: ["x"] }
    }
    await expect(storage.replace?.("a", lines(), { expect: head })).rejects.toMatchObject(indeterminate)
  })

  test("a delete, by a creation", async () => {
    const { storage, undo } = await withOther()
    await fill(storage, "a", 2)
    undo(CREATED)
    await expect(storage.delete("a")).rejects.toMatchObject(indeterminate)
  })

  test("a put of a document, by another put", async () => {
    const { storage, undo } = await withOther()
    undo("UPDATE doc SET body = x'5b5d'")
    await expect(storage.docs.put("x", "{}", { expect: null })).rejects.toMatchObject(indeterminate)
    expect((await storage.docs.get("x"))?.text).toBe("[]")
  })

  /** `undo`: another writer's statement comes between a commit, the next one or a later one, and the question whether it is stored. */
  async function withOther(): Promise<{
    storage: SessionStorage
    undo: (sql: string, o?: { after: number }) => void
  }> {
    const path = newPath()
    const faults: Fault[] = []
    const storage = openAt(path, { open: withFaults(faults) })
    // The first call makes the tables, which is a commit too.
    await storage.head("a")
    const undo = (sql: string, { after } = { after: 0 }): void => {
      faults.push(...Array.from({ length: after }, (): Fault => (commit) => commit()))
      faults.push((commit) => {
        commit()
        const other = openDatabase(path)
        other.exec(sql)
        other.close()
        return fail()
      })
    }
    return { storage, undo }
  }
})

test("an append whose commit fails, like the one after it, is `indeterminate`", async () => {
  const faults: Fault[] = []
  const storage = openAt(newPath(), { open: withFaults(faults) })
  const head = await fill(storage, "a", 2)
  faults.push(fail, fail)
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  await storage.append("a", ["x"], { expect: head })
  expect(await linesOf(storage, "a")).toEqual([...linesTo(2), "x"])
})

test("a document and a blob whose commit fails are found out as well", async () => {
  const faults: Fault[] = []
  const storage = openAt(newPath(), { open: withFaults(faults) })
  const lost: Fault = (commit) => {
    commit()
    return fail()
  }
  await storage.head("a")
  faults.push(lost)
  const version = await storage.docs.put("x", "{}", { expect: null })
  faults.push(fail)
  await expect(storage.docs.put("x", "[]", { expect: version })).rejects.toMatchObject({ code: "unavailable" })
  expect((await storage.docs.get("x"))?.text).toBe("{}")
  faults.push(lost)
  await storage.docs.delete("x", { expect: version })
  faults.push(lost)
  const hash = await storage.blobs.put(new Uint8Array([1]))
  expect(await storage.blobs.has(hash)).toBe(true)
  faults.push(lost)
  expect(await storage.blobs.delete(hash)).toBe(true)
})

test("a sync on a full disk resolves, since what it makes durable is written already", async () => {
  let isFull = false
  const path = newPath()
  const storage = openAt(path, {
    open: (file) =>
      openWithCommits(file, (commit) => {
        if (isFull) throw Object.assign(new Error("database or disk is full"), { errcode: 13, errno: 13 })
        commit()
      }),
  })
  const head = await fill(storage, "a", 2)
  isFull = true
  await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({ code: "quota" })
  await storage.sync?.("a")
  isFull = false
  await storage.append("a", [lineAt(2)], { expect: head })
  expect(await linesOf(openAt(path), "a")).toEqual(linesTo(3))
})
