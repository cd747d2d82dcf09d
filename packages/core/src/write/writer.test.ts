import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Head, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { writeLines } from "./writer.ts"

type Append = SessionStorage["append"]

/** A storage with a log of one line. Each append runs the next step, or the storage's own append if no step is left. */
async function logged(
  ...steps: ((append: Append, lines: readonly string[], o: Parameters<Append>[2]) => Promise<Head>)[]
): Promise<{ readonly storage: SessionStorage; readonly head: Head }> {
  const storage = createMemoryStorage()
  const head = await storage.append("s", ["first"], { expect: 0 })
  const own: Append = (id, lines, o) => storage.append(id, lines, o)
  const append: Append = (id, lines, o) => (steps.shift() ?? (() => own(id, lines, o)))(own, lines, o)
  return { storage: { ...storage, append }, head }
}

const lost = new StorageError("indeterminate", "The answer was lost.")

test("lines that are in the log after a lost response are committed", async () => {
  const { storage, head } = await logged(async (append, lines, o) => {
    await append("s", lines, o)
    throw lost
  })
  const written = await writeLines(storage, "s", ["a", "b"], { expect: head })
  expect(written).toEqual({ kind: "committed", head: { next: 3, log: head.log } })
})

test("if only the first of the lines is in the log, the rest is sent behind it", async () => {
  const { storage, head } = await logged(async (append, lines, o) => {
    await append("s", lines.slice(0, 1), o)
    throw lost
  })
  const written = await writeLines(storage, "s", ["a", "b", "c"], { expect: head })
  expect(written).toEqual({ kind: "committed", head: { next: 4, log: head.log } })
})

test("a conflict after a partly committed request returns the log from the expected end on", async () => {
  const { storage, head } = await logged(
    async (append, lines, o) => {
      await append("s", lines.slice(0, 1), o)
      throw lost
    },
    async (append, lines, o) => {
      await append("s", ["other"], { expect: { next: 2, log: head.log } })
      return append("s", lines, o)
    },
  )
  const written = await writeLines(storage, "s", ["a", "b"], { expect: head })
  const end = { lines: ["first", "a", "other"], head: { next: 3 } }
  expect(written).toMatchObject({ kind: "conflict", mayBeIn: true, end })
})

test("equal lines of another writer are a conflict if none of ours were sent", async () => {
  const { storage, head } = await logged()
  await storage.append("s", ["a"], { expect: head })
  const written = await writeLines(storage, "s", ["a"], { expect: head })
  expect(written).toMatchObject({ kind: "conflict", mayBeIn: false, end: { lines: ["first", "a"] } })
})

test("an outcome that stays unknown is unknown, even after a definite rejection", async () => {
  const quota = new StorageError("quota", "The disk is full.")
  const { storage, head } = await logged(
    () => Promise.reject(lost),
    () => Promise.reject(quota),
  )
  expect(await writeLines(storage, "s", ["a"], { expect: head })).toEqual({ kind: "unknown", error: quota })
})

test("a storage that is unavailable three times, or rejects an unchanged log three times, wrote nothing", async () => {
  const unavailable = new StorageError("unavailable", "The network is down.")
  const conflict = new StorageError("conflict", "The log is elsewhere.")
  for (const [error, code] of [
    [unavailable, "unavailable"],
    [conflict, "conflict"],
  ] as const) {
    const refuse = (): Promise<Head> => Promise.reject(error)
    const { storage, head } = await logged(refuse, refuse, refuse)
    expect(await writeLines(storage, "s", ["a"], { expect: head })).toMatchObject({ kind: "refused", error: { code } })
    expect((await storage.head("s"))?.next).toBe(1)
  }
})

test("equal lines of another writer are committed if they count as ours", async () => {
  const { storage, head } = await logged()
  await storage.append("s", ["a"], { expect: head })
  const written = await writeLines(storage, "s", ["a", "b"], { expect: head, sameIsOwn: true })
  expect(written).toEqual({ kind: "committed", head: { next: 3, log: head.log } })
})

test("if the log to create already exists, only its first line is read, even if it is damaged", async () => {
  const { storage } = await logged()
  const ranges: unknown[] = []
  const counted: SessionStorage = { ...storage, read: (id, range) => (ranges.push(range), storage.read(id, range)) }
  const exists = { kind: "conflict", mayBeIn: false, end: { lines: [] } }
  expect(await writeLines(counted, "s", ["header"], { expect: 0 })).toMatchObject(exists)
  expect(ranges).toEqual([{ from: 0, to: 1 }])
  const read = (): never => {
    throw new StorageError("corrupt", "These bytes are not UTF-8.")
  }
  expect(await writeLines({ ...storage, read }, "s", ["header"], { expect: 0 })).toMatchObject(exists)
})

test("a signal that fires during a conflict does not hide it", async () => {
  const controller = new AbortController()
  const { storage } = await logged((append, lines, o) => {
    controller.abort()
    return append("s", lines, { expect: o.expect })
  })
  const written = await writeLines(storage, "s", ["header"], { expect: 0, signal: controller.signal })
  expect(written).toMatchObject({ kind: "conflict", mayBeIn: false })
})

test("whenever more of the lines are in the log, the rest gets all its attempts again", async () => {
  const part = async (append: Append, lines: readonly string[], o: Parameters<Append>[2]): Promise<Head> => {
    await append("s", lines.slice(0, 1), o)
    throw lost
  }
  const rejects = (): Promise<Head> => Promise.reject(lost)
  const { storage, head } = await logged(part, rejects, part, rejects, rejects)
  const written = await writeLines(storage, "s", ["a", "b", "c"], { expect: head })
  expect(written).toEqual({ kind: "committed", head: { next: 4, log: head.log } })
})

test("a creation that may have arrived stays unknown while its first line cannot be read", async () => {
  const memory = createMemoryStorage()
  const storage: SessionStorage = {
    ...memory,
    append: async (id, lines, o) => {
      await memory.append(id, lines, o)
      throw lost
    },
    read: () => {
      throw new StorageError("corrupt", "The first line is damaged.")
    },
  }
  expect(await writeLines(storage, "s", ["header", "a"], { expect: 0 })).toMatchObject({ kind: "unknown" })
})
