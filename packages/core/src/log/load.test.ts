import { createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { chain, linesOf, user } from "../../test/chain.ts"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { findingsTest, loadAll } from "../../test/findings.ts"
import { createFaultyStorage } from "@sessions/conformance/faults"
import { HEADER } from "../../test/logs.ts"
import { knownTips, sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import type { SessionContext } from "../context/types.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { loadOther } from "./load-other-version.ts"
import { loadLog, loadOlder } from "./load.ts"
import { createSessions } from "../session/repository.ts"
import { sessionTree } from "../transfer/index.ts"

const ONE_LINE = { first: 1, largest: 1 }
const talk = (count: number) => chain(...Array.from({ length: count }, (_, n) => user(`said ${n}`)))

describe("windows", () => {
  test("are read backwards until the log is complete, and nothing is read after that", async () => {
    const storage = await storeLines(linesOf(talk(20), HEADER))
    const loaded = await loadLog(storage, STORED_ID, loadOther([]), { readWindow: ONE_LINE })
    expect([loaded.log.from, loaded.log.end]).toEqual([20, 21])
    expect(await loadAll(storage, loaded)).toBe(20)
    expect(loaded.log.at(1)?.id).toBe("e1")
    await loadOlder(storage, STORED_ID, loaded, undefined)
    expect(loaded.log.end).toBe(21)
  })

  test("reach back to a hint, and further if a hint is invalid", async () => {
    const storage = await storeLines(linesOf(talk(20), HEADER))
    const hinted = await loadLog(storage, STORED_ID, loadOther([]), { readWindow: ONE_LINE })
    await loadOlder(storage, STORED_ID, hinted, 5)
    expect(hinted.log.from).toBe(5)
    await loadOlder(storage, STORED_ID, hinted, 1_000_000)
    expect(hinted.log.from).toBe(4)
  })

  findingsTest(10_000)
})

test("report a duplicate id once per occurrence, in windows of any size", async () => {
  const twice = chain(
    user("a"),
    user("b"),
    user("c", { id: "e1" }),
    user("d"),
    user("e", { id: "e1" }),
    user("f", { id: "e4" }),
  )
  const storage = await storeLines(linesOf(twice, HEADER))
  for (const bytes of [1, 300, 500, 65_536]) {
    const session = await sessionsReading(storage, bytes).open(STORED_ID)
    await sessionTree(session)
    const found = session.diagnostics.filter(({ code }) => code === "duplicate_id")
    expect(found.map(({ seq }) => seq ?? 0).toSorted((a, b) => a - b)).toEqual([3, 5, 6])
    expect(found.find(({ seq }) => seq === 5)?.message).toContain("line 3;")
  }
})

describe("reading", () => {
  test("retries a storage that is unavailable for a moment, and gives up if it stays so", async () => {
    const storage = createFaultyStorage(await storeLines(linesOf(talk(20), HEADER)))
    storage.fail("head", "unavailable")
    storage.fail("read", "unavailable", undefined, "unavailable", "unavailable")
    const session = await sessionsReading(storage, 1).open(STORED_ID)
    storage.fail("read", undefined, "unavailable", undefined, "unavailable", "unavailable", "unavailable")
    await expect(session.context()).rejects.toMatchObject({ code: "unavailable" })
    expect((await session.context()).messages).toHaveLength(20)
  })

  test("runs once for concurrent requests", async () => {
    const storage = createCountingStorage(
      await storeLines(linesOf(talk(50), HEADER), undefined, { info: knownTips(50) }),
    )
    const session = await sessionsReading(storage, 1).open(STORED_ID)
    const asked = [
      session.context(),
      session.context(),
      session.messages({ limit: 3 }),
      sessionTree(session),
      session.entry("e1"),
    ]
    const [one, two] = (await Promise.all(asked)) as SessionContext[]
    expect(one).toEqual(two)
    expect(one?.messages).toHaveLength(50)
    // The first line twice.
    expect(storage.counted.lines).toBeLessThan(51 + 2)
  })

  test("stops if another call has read further meanwhile", async () => {
    const storage = createCountingStorage(
      await storeLines(linesOf(talk(50), HEADER), undefined, { info: knownTips(50) }),
    )
    const session = await sessionsReading(storage, 1).open(STORED_ID)
    await Promise.all(Array.from({ length: 10 }, () => session.messages({ limit: 2 })))
    expect(storage.counted.lines).toBeLessThan(8)
  })

  test("continues during appends, and never sees half of one", async () => {
    const storage = await storeLines(linesOf(talk(30), HEADER))
    const session = await sessionsReading(storage, 1).open(STORED_ID)
    const context = session.context()
    for (let n = 0; n < 10; n++)
      void session.append({ type: "message", message: { role: "user", content: `more ${n}` } })
    expect((await context).messages.length).toBeGreaterThanOrEqual(30)
    expect((await session.context()).messages).toHaveLength(40)
    await session.flush()
    expect((await (await sessionsReading(storage, 1).open(STORED_ID)).context()).messages).toHaveLength(40)
  })

  test("ends with its signal, for that caller alone", async () => {
    const session = await sessionsReading(await storeLines(linesOf(talk(50), HEADER)), 1).open(STORED_ID)
    const controller = new AbortController()
    const aborted = session.context({ signal: controller.signal })
    const other = session.context()
    controller.abort()
    await expect(aborted).rejects.toMatchObject({ code: "aborted" })
    expect((await other).messages).toHaveLength(50)
  })
})

describe("a log that is no longer the opened one", () => {
  const other = linesOf(
    talk(40).map((slot) => (slot === undefined ? undefined : { ...slot, id: `other ${slot.id}` })),
    HEADER,
  )

  test("gives `conflict` to further reads, even if only damaged lines are where the windows meet", async () => {
    for (const damage of [0, 1, 5]) {
      const lines = linesOf(talk(20), HEADER).map((line, seq) => (seq > 20 - damage ? "-" : line))
      const storage = await storeLines(lines)
      const loaded = await loadLog(storage, STORED_ID, loadOther([]), { readWindow: ONE_LINE })
      for (let reads = 0; reads < 8; reads++) await loadOlder(storage, STORED_ID, loaded, undefined)
      await storage.delete(STORED_ID)
      await expect(loadOlder(storage, STORED_ID, loaded, undefined)).rejects.toMatchObject({ code: "conflict" })
      await storeLines(other, storage)
      await expect(loadOlder(storage, STORED_ID, loaded, undefined)).rejects.toMatchObject({ code: "conflict" })
      expect(loaded.log.from).toBe(12)
    }
  })

  test("gives `not_found` if it was deleted between the read of its head and that of its first line", async () => {
    const memory = await storeLines(linesOf(talk(1), HEADER))
    const storage: SessionStorage = {
      ...memory,
      head: async (session, o) => {
        const head = await memory.head(session, o)
        await memory.delete(session)
        return head
      },
    }
    await expect(loadLog(storage, STORED_ID, loadOther([]))).rejects.toMatchObject({
      code: "not_found",
      session: STORED_ID,
    })
  })
})

describe("opening", () => {
  test("reports an open tip once the log was read in the background, and none after a line that is damaged", async () => {
    const writers = chain(user("a"), user("b"), user("c"), user("d", { parentId: "e1" }), user("e"))
    const damaged = chain(user("a"), user("b"), undefined, user("d", { parentId: "e3" }), user("e"))
    for (const bytes of [1, 500, 65_536]) {
      const diverged = await sessionsReading(await storeLines(linesOf(writers, HEADER)), bytes).open(STORED_ID)
      await diverged.info()
      expect(diverged.diagnostics).toMatchObject([{ code: "diverged", leaf: "e5", otherLeaf: "e3" }])
      const session = await sessionsReading(await storeLines(linesOf(damaged, HEADER)), bytes).open(STORED_ID)
      await session.info()
      expect(session.diagnostics.filter(({ code }) => code === "diverged")).toEqual([])
    }
  })

  test("reports it at once if the first window has both tips, and corrects the report when the log was read", async () => {
    const writers = chain(user("a"), user("b"), user("c"), user("d", { parentId: "e1" }), user("e"))
    const damaged = chain(user("a"), undefined, user("c"), user("d", { parentId: "e2" }), user("e"))
    const opened = async (slots: typeof writers) => {
      const lines = linesOf(slots, HEADER)
      const threeLines = lines.slice(-3).join("\n").length + 1
      const readWindow = { first: threeLines, largest: threeLines }
      return createSessions({ storage: await storeLines(lines), readWindow }).open(STORED_ID)
    }
    expect((await opened(writers)).diagnostics).toMatchObject([{ code: "diverged", leaf: "e5", otherLeaf: "e3" }])
    const session = await opened(damaged)
    // The parent of e4 is not in memory.
    expect(session.diagnostics).toMatchObject([{ code: "diverged", leaf: "e5", otherLeaf: "e3" }])
    await session.info()
    expect(session.diagnostics.filter(({ code }) => code === "diverged")).toEqual([])
  })

  test("reports no divergence for the branches of an older log, which have no entries that record them", async () => {
    const branches = chain(user("a"), user("b"), user("c", { parentId: "e1" }))
    const older = { type: "session", version: 3, id: "x", timestamp: "2026-01-31T09:30:00.000Z" }
    const storage = await storeLines(linesOf(branches, older))
    const session = await sessionsReading(storage, 1).open(STORED_ID)
    expect(session.diagnostics).toEqual([])
    expect((await session.context()).messages).toHaveLength(2)
  })

  test("reports no other turn once the session has chosen between the two", async () => {
    const writers = chain(user("a"), user("b"), user("c"), user("d", { parentId: "e1" }), user("e"))
    const session = await sessionsReading(await storeLines(linesOf(writers, HEADER)), 1).open(STORED_ID)
    await session.info()
    expect(session.diagnostics).toMatchObject([{ code: "diverged", otherLeaf: "e3" }])
    await session.branch("e5")
    expect(session.diagnostics).toEqual([])
  })

  test("accepts a log whose header is not its first line, which can be read and continued", async () => {
    const [first, ...rest] = linesOf(talk(3), HEADER)
    const storage = await storeLines([" ", first as string, ...rest])
    const session = await sessionsReading(storage, 1).open(STORED_ID)
    expect((await session.context()).messages).toHaveLength(3)
    await session.append({ type: "message", message: { role: "user", content: "more" } })
    expect((await (await sessionsReading(storage, 1).open(STORED_ID)).context()).messages).toHaveLength(4)
  })

  test("gives a log of a newer version for reading only", async () => {
    const storage = await storeLines(linesOf(talk(3), { ...HEADER, version: 99 }))
    const session = await createSessions({ storage }).open(STORED_ID)
    expect((await session.context()).messages).toHaveLength(3)
    expect(session.diagnostics).toMatchObject([{ code: "unknown_version" }])
    await expect(session.title("x")).rejects.toMatchObject({ code: "newer_version" })
  })

  test("rejects a log that is not a session, and leaves it as it is", async () => {
    for (const lines of [["not JSON"], ['{"some":"config"}'], [" "], ['{"type":"message","id":"a","parentId":null}']]) {
      const storage = await storeLines(lines)
      await expect(createSessions({ storage }).open(STORED_ID)).rejects.toMatchObject({ code: "not_a_session" })
      expect((await storage.head(STORED_ID))?.next).toBe(lines.length)
    }
    const empty = createMemoryStorage()
    await expect(createSessions({ storage: empty }).open(STORED_ID)).rejects.toMatchObject({ code: "not_found" })
  })

  test("reports a log as incomplete if it has lost lines that its header counts", async () => {
    const header = { ...HEADER, origin: { format: "pi", version: 3, lines: 9 } }
    const session = await createSessions({ storage: await storeLines(linesOf(talk(3), header)) }).open(STORED_ID)
    expect(session.diagnostics).toMatchObject([{ code: "incomplete" }])
  })

  test("reports a torn line", async () => {
    const memory = await storeLines(linesOf(talk(3), HEADER))
    const head: SessionStorage["head"] = async (session) => ({ ...(await memory.head(session)), torn: 7 }) as never
    const session = await createSessions({ storage: { ...memory, head } }).open(STORED_ID)
    expect(session.diagnostics).toMatchObject([{ code: "torn_tail", bytes: 7 }])
  })
})
