import * as fc from "fast-check"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { lines as linesOf, olderLog } from "../../../test/older-logs.ts"
import { holdsAsync } from "../../../test/property.ts"
import { codeOf, linesIn, sessionsIn, smallBatches, textOf } from "../../../test/transfer.ts"
import { user } from "../../../test/writers.ts"
import { parseLine } from "../../format/line.ts"
import type { Head, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { exportSession, migrateSession, verifySession } from "../index.ts"
import { migrateStored } from "./migrate.ts"

const AT = "2025-01-01T00:00:00.000Z"
const HEADER = JSON.stringify({ type: "session", version: 3, id: "o", timestamp: AT, provider: "p", modelId: "m" })

function entry(id: string, parentId: string | null, content: unknown = "é𝄞"): string {
  return JSON.stringify({ type: "message", id, parentId, timestamp: AT, message: { role: "user", content } })
}

const OLD = [HEADER, entry("a", null), "not json", entry("b", "a")]

async function stored(lines: readonly string[] = OLD, storage = createMemoryStorage()): Promise<SessionStorage> {
  let head: 0 | Head = 0
  for (const line of lines) head = await storage.append("o", [line], { expect: head })
  return storage
}

test("a migrated log is current and complete, and keeps a backup of the older log", async () => {
  const storage = await stored()
  const sessions = sessionsIn(storage)
  const before = (await (await sessions.open("o")).context()).messages
  expect(await migrateSession(sessions, "o")).toEqual({ migrated: true, from: { format: "pi", version: 3 } })
  const lines = await linesIn(storage, "o")
  const origin = parseLine(lines[0] as string).record?.["origin"]
  expect(origin).toEqual({
    format: "pi",
    version: 3,
    id: "o",
    lines: 4,
    settled: 4,
    backup: {
      blobs: [expect.stringMatching(/^sha256:[0-9a-f]{64}$/)],
      bytes: new TextEncoder().encode(`${OLD.join("\n")}\n`).length,
    },
  })
  expect(lines[2]).toBe("not json")
  const fresh = sessionsIn(storage)
  expect((await (await fresh.open("o")).context()).messages).toEqual(before)
  expect((await verifySession(fresh, "o")).diagnostics.map(({ code }) => code)).toEqual(["unparsable_line"])
  expect(await textOf(exportSession(fresh, "o", { backup: true }))).toBe(`${OLD.join("\n")}\n`)
})

test("the backup of any older log is its bytes, and its content stays the same", async () => {
  await holdsAsync(
    fc.asyncProperty(olderLog, async (log) => {
      const old = linesOf(...log)
      const storage = await stored(old)
      const before = await sessionsIn(storage).open("o")
      const was = [before.leafId, before.header.timestamp, (await before.context()).messages]
      await migrateStored(storage, "o")
      const after = await sessionsIn(storage).open("o")
      expect([after.leafId, after.header.timestamp, (await after.context()).messages]).toEqual(was)
      expect(await textOf(exportSession(sessionsIn(storage), "o", { backup: true }))).toBe(`${old.join("\n")}\n`)
      expect(await migrateStored(storage, "o")).toMatchObject({ migrated: false })
    }),
    25,
  )
})

test("a current log stays as it is", async () => {
  const storage = createMemoryStorage()
  const sessions = sessionsIn(storage)
  const session = await sessions.create({ id: "s" })
  await session.append(user("hi"))
  const before = await linesIn(storage, "s")
  expect(await migrateSession(sessions, "s")).toEqual({ migrated: false, from: { format: "@sessions", version: 4 } })
  expect(await linesIn(storage, "s")).toEqual(before)
})

test("the first write to an older log migrates it, and is appended behind its entries", async () => {
  const storage = await stored()
  const session = await sessionsIn(storage).open("o")
  await session.append(user("new", "c"))
  expect((await session.context()).messages.map(({ entryId }) => entryId)).toEqual(["a", "b", "c"])
  const again = await sessionsIn(storage).open("o")
  expect((await again.context()).messages.map(({ entryId }) => entryId)).toEqual(["a", "b", "c"])
  expect(again.header.version).toBe(4)
})

test("appends that are made at once to an older log migrate it once, and keep their order", async () => {
  const storage = await stored()
  let replaced = 0
  const replace: SessionStorage["replace"] = (...call) => {
    replaced++
    return (storage.replace as NonNullable<typeof storage.replace>)(...call)
  }
  const session = await sessionsIn({ ...storage, replace }).open("o")
  await Promise.all(["c", "d", "e"].map((id) => session.append(user(id, id))))
  expect((await session.context()).messages.map(({ entryId }) => entryId)).toEqual(["a", "b", "c", "d", "e"])
  expect(replaced).toBe(1)
})

test("images move from the line to the blob store", async () => {
  const image = { type: "image", mimeType: "image/png", data: btoa("x".repeat(3_000)) }
  const storage = await stored([HEADER, entry("a", null, [image])])
  await migrateStored(storage, "o")
  expect((await linesIn(storage, "o"))[1]?.length).toBeLessThan(1_000)
  const { messages } = await (await sessionsIn(storage).open("o")).context()
  expect(messages[0]?.message.content).toEqual([image])
})

test("a storage without replace is `read_only`, and the log stays", async () => {
  const storage = await stored()
  const fixed: SessionStorage = { ...storage, capabilities: { ...storage.capabilities, replace: false } }
  expect(await codeOf(migrateStored(fixed, "o"))).toBe("read_only")
  expect(await codeOf((await sessionsIn(fixed).open("o")).append(user("new")))).toBe("read_only")
  expect(await linesIn(storage, "o")).toEqual(OLD)
})

test("a log that is not an older one is rejected with an error that names the session, and stays", async () => {
  const newer = ['{"type":"session","format":"@sessions","version":99,"id":"o"}']
  for (const [lines, code] of [
    [newer, "newer_version"],
    [["hello"], "not_a_session"],
  ] as const) {
    const storage = await stored(lines)
    await expect(migrateStored(storage, "o")).rejects.toMatchObject({
      code,
      session: "o",
      storage: storage.description,
    })
    expect(await linesIn(storage, "o")).toEqual(lines)
  }
  expect(await codeOf(migrateStored(createMemoryStorage(), "o"))).toBe("not_found")
})

test("a line that exceeds the storage's limit after migration is `too_large`, and the log stays", async () => {
  const text = "x".repeat(850)
  const storage = await stored([HEADER, entry("a", null, text)], smallBatches())
  expect(await codeOf(migrateStored(storage, "o"))).toBe("too_large")
  expect(await linesIn(storage, "o")).toEqual([HEADER, entry("a", null, text)])
})

/** A storage whose replace first runs another action, once or always. */
function withReplace(storage: SessionStorage, before: (times: number) => Promise<void>): SessionStorage {
  let times = 0
  return {
    ...storage,
    replace: async (session, chunks, o) => {
      await before(++times)
      return (await storage.replace?.(session, chunks, o)) ?? o.expect
    },
  }
}

test("another writer's entry between read and replace is migrated too", async () => {
  const storage = await stored()
  const append = async () => {
    const head = await storage.head("o")
    await storage.append("o", [entry("c", "b")], { expect: { next: head?.next ?? 0, log: head?.log ?? "" } })
  }
  const busy = withReplace(storage, async (times) => (times === 1 ? append() : undefined))
  expect(await migrateStored(busy, "o")).toMatchObject({ migrated: true })
  expect((await linesIn(storage, "o")).map((line) => parseLine(line).record?.["id"])).toEqual([
    "o",
    "a",
    undefined,
    "b",
    "c",
  ])
  expect(await textOf(exportSession(sessionsIn(storage), "o", { backup: true }))).toContain('"id":"c"')
})

test("a writer that keeps appending causes a conflict, and the log stays older", async () => {
  const storage = await stored()
  const append = async (times: number) => {
    const head = await storage.head("o")
    await storage.append("o", [entry(`c${times}`, "b")], { expect: { next: head?.next ?? 0, log: head?.log ?? "" } })
  }
  expect(await codeOf(migrateStored(withReplace(storage, append), "o"))).toBe("conflict")
  expect((await linesIn(storage, "o"))[0]).toBe(HEADER)
})

test("a replace whose response was lost is resolved", async () => {
  const storage = await stored()
  const lossy: SessionStorage = {
    ...storage,
    replace: async (session, chunks, o) => {
      await storage.replace?.(session, chunks, o)
      throw new StorageError("indeterminate", "The reply was lost.")
    },
  }
  expect(await migrateStored(lossy, "o")).toEqual({ migrated: true, from: { format: "pi", version: 3 } })
})

test("a blob store that loses blobs leaves the log as it is", async () => {
  const image = { type: "image", mimeType: "image/png", data: btoa("x".repeat(3_000)) }
  const lines = [HEADER, entry("a", null, [image])]
  const storage = await stored(lines)
  const lossy: SessionStorage = { ...storage, blobs: { ...storage.blobs, get: async () => undefined } }
  expect(await codeOf(migrateStored(lossy, "o"))).toBe("corrupt")
  expect(await linesIn(storage, "o")).toEqual(lines)
})
