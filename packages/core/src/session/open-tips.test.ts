import { compact } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { chain, linesOf, user as message } from "../../test/chain.ts"
import { createCountingStorage } from "../../test/counting-storage.ts"
import { HEADER } from "../../test/logs.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import { assistant, codeOf, createWriter, note, reopened, storedEntries, twoWriters, user } from "../../test/writers.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { parseProjection } from "../info/projection-text.ts"
import type { HeadInfo, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"
import { sessionBranches, verifySession } from "../transfer/index.ts"
import type { Session } from "./types.ts"

/** The ids that the diagnostic names, newest first; undefined without one. */
function named({ diagnostics }: { readonly diagnostics: readonly Diagnostic[] }): readonly string[] | undefined {
  const found = diagnostics.filter(({ code }) => code === "diverged")
  expect(found.length).toBeLessThan(2)
  const [diverged] = found
  if (diverged === undefined) return undefined
  expect(diverged.otherLeaf).toBe(diverged.tips?.[0]?.id)
  return diverged.tips?.map(({ id }) => id)
}

async function verified(location: MemoryLocation): Promise<readonly string[] | undefined> {
  return named(await verifySession(createSessions({ storage: createMemoryStorage({ location }) }), "s"))
}

/** Several processes append a turn each at once. */
async function writersAtOnce(count: number): Promise<MemoryLocation> {
  const location = createMemoryLocation()
  const first = await createWriter(location).sessions.create({ id: "s" })
  await first.append(user("start", "0"))
  const others = Array.from({ length: count - 1 }, () => createWriter(location).sessions.open("s"))
  const writers = [first, ...(await Promise.all(others))]
  for (const [index, writer] of writers.entries()) await writer.append(user(`turn ${index}`, `w${index}`))
  return location
}

/** Reads of the storage, without the header's line. */
function reads(storage: SessionStorage): { readonly storage: SessionStorage; readonly from: number[] } {
  const from: number[] = []
  const read: SessionStorage["read"] = (id, range, o) => {
    if (range !== undefined && "from" in range && range.from === 0) from.push(range.to ?? Number.POSITIVE_INFINITY)
    return storage.read(id, range, o)
  }
  return { storage: { ...storage, read }, from }
}

describe.each([false, true])("a turn of another writer (compacted afterwards: %s)", (compacts) => {
  test.each([5, 300])(
    "is reported by every opening and by verify after a continuation of %i messages",
    async (count) => {
      const { location, one, two } = await twoWriters({}, [user("q0"), assistant("a0")])
      await one.append([user("hidden", "h1"), assistant("its answer", "h2")])
      let reported = 0
      two.on("diverged", () => reported++)
      const results = []
      for (let n = 0; n < count; n++) results.push(await two.append(user(`b${n} ${" ".repeat(1_000)}`)))
      expect(results.map(({ diverged }) => diverged?.tips.map(({ id }) => id))).toEqual([
        ["h2"],
        ...Array.from({ length: count - 1 }, () => undefined),
      ])
      expect(reported).toBe(1)
      if (compacts) await compact(two, { summarize: async () => "## Goal\nonly b", keepRecentTokens: 200 })
      const { storage, from } = reads(createMemoryStorage({ location }))
      const opened = await createSessions({ storage }).open("s")
      expect(named(opened)).toEqual(["h2"])
      expect(named(await opened.context())).toEqual(["h2"])
      expect(named(opened)).toEqual(["h2"])
      expect(await verified(location)).toEqual(["h2"])
      // The tips came with the head.
      if (count > 200) expect(from).toEqual([1])
    },
  )
})

test("each branch of several writers is named, and choosing one of them settles the others that were reported", async () => {
  const location = await writersAtOnce(4)
  const session = await reopened(location)
  expect(named(session)).toEqual(["w2", "w1", "w0"])
  expect(await verified(location)).toEqual(["w2", "w1", "w0"])
  const late = await createWriter(location).sessions.open("s")
  await late.append(user("late", "late"))
  // Its entry is written behind that of another, which is not known to it.
  await session.branch("w1")
  expect((await storedEntries(location)).at(-1)).toMatchObject({ type: "leaf", settles: ["w3", "w2", "w0"] })
  const again = await reopened(location)
  expect(named(again)).toEqual(["late"])
  await again.settle(["late"])
  expect(again.diagnostics).toEqual([])
  expect(named(await reopened(location))).toBeUndefined()
  expect(await verified(location)).toBeUndefined()
})

test("information and lists have the open tips", async () => {
  const location = await writersAtOnce(4)
  const storage = createMemoryStorage({ location })
  const sessions = createSessions({ storage })
  const tips = ["w2", "w1", "w0"].map((id) => expect.objectContaining({ id }))
  expect((await sessions.list()).sessions).toMatchObject([{ openTips: { tips } }])
  expect(await sessions.info("s")).toMatchObject({ openTips: { tips } })
  const session = await sessions.open("s")
  expect((await session.info()).openTips).toEqual({
    tips: [
      { seq: 4, id: "w2" },
      { seq: 3, id: "w1" },
      { seq: 2, id: "w0" },
    ],
  })
  await session.settle(["w0", "w2"])
  expect((await session.info()).openTips).toEqual({ tips: [{ seq: 3, id: "w1" }] })
  await session.branch("w1")
  expect((await session.info()).openTips).toEqual({ tips: [] })
  expect((await createSessions({ storage }).list()).sessions).toMatchObject([{ openTips: { tips: [] } }])
})

test("each context names the branches that are open to the leaf that it is of", async () => {
  const session = await reopened(await writersAtOnce(3))
  await session.append(user("goes on", "x"))
  const inTurn = await session.turn((turn) => turn.context({ repair: "none" }))
  expect(inTurn.diagnostics).toMatchObject([{ code: "diverged", leaf: "x", otherLeaf: "w1" }])
  await session.settle(["w1"])
  expect(named(await session.context())).toEqual(["w0"])
  await session.settle(["w0"])
  expect((await session.context()).diagnostics).toEqual([])
})

test("a metadata value in the blob store hides no branch that was reported", async () => {
  const location = await writersAtOnce(2)
  const other = await reopened(location)
  const third = await reopened(location)
  await other.metadata("large", "x".repeat(600_000))
  for (let n = 0; n < 20; n++) await third.append(user("text ".repeat(50)))
  const storage = createMemoryStorage({ location })
  const session = await sessionsReading(storage, 500).open("s")
  expect(named(session)).toEqual(["w0"])
  await third.append(user("goes on"))
  await session.refresh()
  expect(named(session)).toEqual(["w0"])
  await session.label("w1", "named")
  expect(named(await session.context())).toEqual(["w0"])
  await session.close()
  const { info, next } = (await storage.head("s")) as HeadInfo
  expect(parseProjection(info?.text ?? "")).toMatchObject({ to: { seq: next - 1 }, tips: { tips: [{ id: "w0" }, {}] } })
})

test("tips that are no longer known hide no branch that was reported, until the log is read", async () => {
  const location = await writersAtOnce(2)
  const other = await reopened(location)
  const { ids } = await other.append(Array.from({ length: 12 }, (_, n) => note(`${n}`)))
  const session = await sessionsReading(createMemoryStorage({ location }), 500).open("s")
  expect(named(session)).toEqual(["w0"])
  // The id of this annotation is not kept: it may be anchored at any of the tips.
  await other.branch(ids[0] as string)
  await session.refresh()
  expect(named(session)).toEqual(["w0"])
  const { info } = (await createMemoryStorage({ location }).head("s")) as HeadInfo
  expect(parseProjection(info?.text ?? "")).not.toHaveProperty("tips")
  // The other writer has chosen the branch of the annotation, which is the session's own.
  expect((await session.info()).openTips).toEqual({ tips: [] })
  expect(named(session)).toBeUndefined()
})

describe("branches()", () => {
  test("lists every branch, and a choice settles those that it has listed", async () => {
    const location = await writersAtOnce(30)
    const session = await reopened(location)
    expect(session.diagnostics).toMatchObject([{ code: "diverged", more: 6 }])
    expect(named(session)).toHaveLength(23)
    const branches = await sessionBranches(session)
    expect(branches.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, n) => `w${29 - n}`))
    expect(branches[0]).toMatchObject({ seq: 31, fork: "w29", messages: 0, settled: false, current: true })
    expect(branches[26]).toMatchObject({ seq: 5, fork: "0", messages: 1, settled: false, current: false })
    await session.branch("w3")
    const again = await reopened(location)
    expect(named(again)).toBeUndefined()
    const chosen = await sessionBranches(again)
    expect(chosen.filter(({ settled }) => !settled)).toMatchObject([{ id: "w3", current: true }])
  })

  test("reads the log once", async () => {
    const storage = await storeLines(linesOf(chain(...Array.from({ length: 60 }, (_, n) => message(`${n}`))), HEADER))
    const counting = createCountingStorage(storage)
    const session = await sessionsReading(counting, 500).open(STORED_ID)
    await session.info()
    counting.take()
    expect(await sessionBranches(session)).toMatchObject([{ id: "e60", current: true }])
    expect(counting.take().lines).toBeLessThan(60)
    await sessionBranches(session)
    expect(counting.take().lines).toBe(0)
  })

  test("is about the session's own leaf, and includes what is not yet written", async () => {
    const location = await writersAtOnce(2)
    const session = await reopened(location)
    const appended = session.branch("0")
    const list = async (): Promise<unknown[]> =>
      (await sessionBranches(session)).map(({ id, fork, current }) => [id, fork, current])
    expect(await list()).toEqual([
      ["w1", "0", false],
      ["w0", "0", false],
    ])
    await appended
    await session.append(user("new", "n"))
    expect(await list()).toEqual([
      ["n", "n", true],
      ["w1", "0", false],
      ["w0", "0", false],
    ])
  })
})

test("to a session on another branch than the log's last entry, that entry's branch is open and its own is not", async () => {
  const location = await writersAtOnce(2)
  const [one, two] = [await reopened(location), await reopened(location)]
  await two.branch("w0")
  await two.append(user("on", "on"))
  await one.append(note("n"))
  expect(one.leafId).toBe("w1")
  expect((await one.info()).openTips).toEqual({ tips: [{ seq: 5, id: "on" }] })
  expect((await two.info()).openTips).toEqual({ tips: [] })
})

test("a step back chooses none of the branches, so they stay open", async () => {
  const location = await writersAtOnce(3)
  const session = await reopened(location)
  await session.branch("0")
  expect(named(session)).toEqual(["w1", "w0"])
  expect(named(await reopened(location))).toEqual(["w1", "w0"])
})

test("the report loses the tips that another writer settles", async () => {
  const location = await writersAtOnce(3)
  const session = await reopened(location)
  const other = await reopened(location)
  await other.settle(["w0"])
  await session.append(note("n"))
  expect(named(session)).toEqual(["w1"])
  await other.settle(["w1"])
  await session.append(note("n"))
  expect(named(session)).toBeUndefined()
})

test("an import that was interrupted reports no branches before all its lines are there", async () => {
  const origin = { format: "pi", version: 3, lines: 5 }
  const branches = linesOf(chain(message("a"), message("b"), message("c", { parentId: "e1" })), { ...HEADER, origin })
  const opened = async (lines: readonly string[]): Promise<Session> =>
    createSessions({ storage: await storeLines(lines) }).open(STORED_ID)
  expect((await opened(branches)).diagnostics).toMatchObject([{ code: "incomplete" }])
  const aside = chain(message("a"), message("b"), message("c", { parentId: "e1" }), message("d"))
  expect((await opened(linesOf(aside, { ...HEADER, origin }))).diagnostics).toEqual([])
  const later = chain(
    message("a"),
    message("b"),
    message("c", { parentId: "e1" }),
    message("d"),
    message("e", { parentId: "e1" }),
  )
  expect(named(await opened(linesOf(later, { ...HEADER, origin })))).toEqual(["e4"])
})

describe("a log whose stored information has no tips", () => {
  const count = 60
  const lines = linesOf(
    chain(
      message("a"),
      message("b"),
      message("c", { parentId: "e1" }),
      ...Array.from({ length: count }, (_, n) => message(`${n}`)),
    ),
    HEADER,
  )
  const stored = (): Promise<SessionStorage> => storeLines(lines)

  test("is read in the background after it was opened, and the tips are reported then", async () => {
    const session = await sessionsReading(await stored(), 500).open(STORED_ID)
    expect(session.diagnostics).toEqual([])
    const diagnostic = new Promise<Diagnostic>((resolve) => void session.on("diagnostic", resolve))
    expect(await diagnostic).toMatchObject({ code: "diverged", otherLeaf: "e2", tips: [{ seq: 2, id: "e2" }] })
    expect(named(session)).toEqual(["e2"])
    await session.branch(session.leafId as string)
    expect(session.diagnostics).toEqual([])
  })

  test("has them with its next append, whatever was appended meanwhile", async () => {
    const storage = await stored()
    const session = await sessionsReading(storage, 500).open(STORED_ID)
    const appended = session.append(user("meanwhile", "m"))
    await session.info()
    await appended
    await session.append(user("more", "n"))
    const { info } = (await storage.head(STORED_ID)) as HeadInfo
    expect(parseProjection(info?.text ?? "")?.tips?.tips).toMatchObject([{ id: "e2" }, { id: "n" }])
    expect(named(await sessionsReading(storage, 500).open(STORED_ID))).toEqual(["e2"])
  })

  test("is not read further once the session is closed", async () => {
    const inner = createCountingStorage(await stored())
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => (release = resolve))
    const seen: (AbortSignal | undefined)[] = []
    const storage: SessionStorage = {
      ...inner,
      async *read(id, range, o) {
        if (range !== undefined && "from" in range && range.from === 0 && range.to !== 1) {
          seen.push(o?.signal)
          await held
          o?.signal?.throwIfAborted()
        }
        yield* inner.read(id, range, o)
      },
    }
    const session = await sessionsReading(storage, 500).open(STORED_ID)
    await expect.poll(() => seen).toHaveLength(1)
    const closed = session.close()
    release()
    await closed
    expect(seen[0]?.aborted).toBe(true)
    expect(session.diagnostics).toEqual([])
  })

  test("stays usable if it cannot be read, and is read again when its information is asked for", async () => {
    const { storage } = createWriter()
    await storeLines(lines, storage)
    // The header, the last window, and then the background.
    storage.fail("read", undefined, undefined, "corrupt")
    const session = await sessionsReading(storage, 500).open(STORED_ID)
    await session.append(user("more"))
    expect(session.diagnostics).toEqual([])
    expect(await session.info()).toMatchObject({ messageCount: count + 4 })
    expect(named(session)).toEqual(["e2"])
  })
})

describe("information that is older than the last window, as a crash leaves it", () => {
  /** A hidden turn, then many others; the head has the information of the session as it was before the turn. */
  async function lagging(count: number): Promise<{ readonly storage: SessionStorage; readonly lines: number }> {
    const { location, one, two } = await twoWriters({}, [user("q0"), assistant("a0")])
    const inner = createMemoryStorage({ location })
    const old = (await inner.head("s")) as HeadInfo
    await one.append([user("hidden", "h1"), assistant("its answer", "h2")])
    for (let n = 0; n < count; n++) await two.append(user(`b${n} ${" ".repeat(300)}`))
    const { next: lines } = (await inner.head("s")) as HeadInfo
    const head: SessionStorage["head"] = async (id, o) => {
      const now = (await inner.head(id, o)) as HeadInfo
      return now.next === lines && old.info !== undefined ? { ...now, info: old.info } : now
    }
    return { storage: { ...inner, head }, lines }
  }

  test("is completed by the opening, which names the turn, and each line is read once", async () => {
    const { storage, lines } = await lagging(60)
    const counting = createCountingStorage(storage)
    const session = await sessionsReading(counting, 2_000).open("s")
    expect(named(session)).toEqual(["h2"])
    // The first held line comes a second time.
    expect(counting.take().lines).toBeLessThanOrEqual(lines + 1)
    expect(named(await session.context())).toEqual(["h2"])
    await session.append(user("goes on"))
    counting.take()
    expect(named(await sessionsReading(counting, 2_000).open("s"))).toEqual(["h2"])
    expect(counting.counted.lines).toBeLessThan(20)
  })

  test("is left to the background if a line between cannot be read, and fails the opening if the storage does", async () => {
    const failingOnce = async (code: "corrupt" | "quota"): Promise<SessionStorage> => {
      const { storage } = await lagging(60)
      let isFirst = true
      const read: SessionStorage["read"] = (id, range, o) => {
        const fails = isFirst && range !== undefined && "from" in range && range.from === 2
        if (fails) isFirst = false
        if (fails) throw new StorageError(code, "not now")
        return storage.read(id, range, o)
      }
      return { ...storage, read }
    }
    const session = await sessionsReading(await failingOnce("corrupt"), 2_000).open("s")
    await session.info()
    expect(named(session)).toEqual(["h2"])
    expect(await codeOf(sessionsReading(await failingOnce("quota"), 2_000).open("s"))).toBe("quota")
  })
})

describe("a branch that was reported and is still open has a diagnostic", () => {
  test("if `branches` was the first to report it", async () => {
    const { location, one, two } = await twoWriters({}, [user("q")])
    await one.append(user("theirs", "theirs"))
    await two.append(user("ours"))
    const storage = createMemoryStorage({ location })
    // The information beside the head is lost, and the reading of the whole log for its tips fails.
    const head = async (id: string): Promise<HeadInfo | undefined> => {
      const { info: _, ...rest } = (await storage.head(id)) as HeadInfo
      return rest
    }
    const read: SessionStorage["read"] = (id, range, o) => {
      if (range !== undefined && "to" in range && range.to === 4) throw new StorageError("quota", "not now")
      return storage.read(id, range, o)
    }
    const session = await sessionsReading({ ...storage, head, read }, 1).open("s")
    expect(named(session)).toBeUndefined()
    await sessionBranches(session)
    expect(named(await session.context())).toEqual(["theirs"])
    expect(named(session)).toEqual(["theirs"])
  })

  test("after the append that would have settled it has failed", async () => {
    const { location, one, two } = await twoWriters({}, [user("q")])
    await one.append(user("theirs", "theirs"))
    await two.append(user("ours", "ours"))
    const writer = createWriter(location)
    const session = await writer.sessions.open("s")
    writer.storage.fail("append", "quota")
    const branched = session.branch("theirs")
    expect(named(await session.context())).toBeUndefined()
    expect(await codeOf(branched)).toBe("quota")
    expect(named(session)).toEqual(["theirs"])
    expect(named(await session.context())).toEqual(["theirs"])
  })
})
