/** Commits that fail: the outcome is found out, and unknown only if the disk fails altogether. */
import type { SqliteDatabase } from "@sessions/sqlite"
import { expect, test } from "vitest"
import { openDatabase } from "../src/driver/library.ts"
import { fill, linesOf, linesTo, newPath, openAt } from "./helpers.ts"

type Fault = (commit: () => unknown) => unknown

const IOERR = Object.assign(new Error("disk I/O error"), { errcode: 10, errno: 10 })
const fail = (): never => {
  throw IOERR
}

/** Opens files whose next commits go through these faults, one each. */
function withFaults(faults: Fault[]): (path: string) => SqliteDatabase {
  return (path) => {
    const database = openDatabase(path)
    return {
      exec: (sql) => database.exec(sql),
      close: () => database.close(),
      prepare(sql) {
        const statement = database.prepare(sql)
        if (sql !== "COMMIT") return statement
        const run = (): { changes: number } => {
          const commit = (): unknown => statement.run()
          const fault = faults.shift()
          if (fault === undefined) commit()
          else fault(commit)
          return { changes: 0 }
        }
        return { get: run, all: () => [], iterate: () => [], run }
      },
    }
  }
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
