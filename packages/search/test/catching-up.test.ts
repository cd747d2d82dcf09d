/** What catching up reads, and that no answer is out of date, whoever changes the sessions or the index meanwhile. */
import { cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions, type Entry, type Session } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { mergeSession } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { describe, expect, onTestFinished, test } from "vitest"
import { createMemoryIndex, createSearch, type SearchIndex, type SearchOptions } from "../src/index.ts"
import { createWorld, say, type World } from "./helpers.ts"
import { type IndexPlace, PLACES } from "./indexes.ts"

type ToMessage = NonNullable<SearchOptions["toMessage"]>

/** A storage that notes its listings, and the ranges of lines that are read. */
function noting(storage: SessionStorage): { storage: SessionStorage; calls: string[] } {
  const calls: string[] = []
  const noted: SessionStorage = {
    ...storage,
    list: (o) => {
      calls.push("list")
      return storage.list(o)
    },
    read: (id, range = {}, o) => {
      const from = "from" in range ? range.from : 0
      const to = "to" in range ? range.to : "end"
      calls.push(`read ${id} ${from}-${to}`)
      return storage.read(id, range, o)
    },
    head: (id, o) => {
      calls.push(`head ${id}`)
      return storage.head(id, o)
    },
  }
  return { storage: noted, calls }
}

/** Without the locks of open sessions, which the restored store would wait for. */
function copyStore(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true, filter: (path) => !path.endsWith(".locks") })
}

/** Finds the texts of `custom` entries, as a bridge stores them. */
function toMessageOf(version: number | undefined, prefix = ""): ToMessage {
  const toMessage = ({ type, data }: Entry) =>
    type === "custom" ? { role: "user", content: `${prefix} ${String(data)}` } : undefined
  return Object.assign(toMessage, version === undefined ? {} : { version })
}

describe.each(Object.keys(PLACES))("an index in %s that was built by another program", (kind) => {
  async function opened() {
    const place = PLACES[kind]?.() as IndexPlace
    onTestFinished(() => place.remove())
    const location = createMemoryLocation()
    const sessions = createSessions({ storage: createMemoryStorage({ location }) })
    const session = await sessions.create()
    await session.append({ type: "custom", customType: "x", data: "first" })
    // An index in memory is lost when it is closed.
    const index = place.open()
    const searchWith = async (toMessage: ToMessage | undefined, words: string) => {
      const { storage, calls } = noting(createMemoryStorage({ location }))
      const own = kind === "memory" ? { ...index, close: async () => undefined } : place.open()
      const search = createSearch({ storage, index: own, ...(toMessage === undefined ? {} : { toMessage }) })
      const { hits } = await search.search(words)
      await search.close()
      return { hits: hits.length, reads: calls.filter((call) => call.startsWith("read")).length }
    }
    return { session, searchWith }
  }

  test("without `toMessage`, or with an older version of it, reads the sessions again, once", async () => {
    const { searchWith } = await opened()
    expect(await searchWith(undefined, "first")).toMatchObject({ hits: 0 })
    expect(await searchWith(toMessageOf(undefined), "first")).toMatchObject({ hits: 1 })
    expect(await searchWith(toMessageOf(1), "first")).toEqual({ hits: 1, reads: 0 })
    expect(await searchWith(toMessageOf(2, "other"), "other")).toMatchObject({ hits: 1 })
    expect(await searchWith(toMessageOf(2, "other"), "other")).toEqual({ hits: 1, reads: 0 })
  })

  test("with a newer version is used as it is; what the older one adds is read again by the newer one", async () => {
    const { session, searchWith } = await opened()
    await searchWith(toMessageOf(2, "new"), "first")
    expect(await searchWith(toMessageOf(1, "old"), "new")).toEqual({ hits: 1, reads: 0 })
    await session.append({ type: "custom", customType: "x", data: "second" })
    expect(await searchWith(toMessageOf(1, "old"), "old")).toMatchObject({ hits: 1 })
    expect(await searchWith(toMessageOf(2, "new"), "new")).toMatchObject({ hits: 2 })
    expect(await searchWith(toMessageOf(2, "new"), "old")).toEqual({ hits: 0, reads: 0 })
  })
})

test("a `version` of `toMessage` that is no whole number from 1 to 999,999 is `invalid`", () => {
  for (const version of [0, -1, 1.5, 1_000_000, Number.NaN]) {
    const options = { storage: createMemoryStorage(), index: createMemoryIndex(), toMessage: toMessageOf(version) }
    expect(() => createSearch(options)).toThrow(expect.objectContaining({ code: "invalid" }))
  }
})

describe("catching up", () => {
  test("reads the new lines of changed sessions, and nothing of others", async () => {
    const location = createMemoryLocation()
    const sessions = createSessions({ storage: createMemoryStorage({ location }) })
    for (const id of ["a", "b", "c"]) await say(await sessions.create({ id }), "word")
    const { storage, calls } = noting(createMemoryStorage({ location }))
    const search = createSearch({ storage, index: createMemoryIndex() })
    await search.catchUp()
    await say(await sessions.open("b"), "another word")
    calls.length = 0
    expect((await search.search("another")).hits).toHaveLength(1)
    // The line before the new one shows that the log is the one that was read.
    expect(calls).toEqual(["list", "read b 1-3"])
    calls.length = 0
    await search.search("another")
    expect(calls).toEqual(["list"])
  })

  test("with `own` lists once, then reads only the sessions that the hooks have reported", async () => {
    const { storage, calls } = noting(createMemoryStorage())
    const { sessions, find } = createWorld({ storage })
    const session = await sessions.create({ id: "a" })
    const first = await say(session, "word")
    expect(await find("word", { catchUp: "own" })).toEqual([first])
    calls.length = 0
    const second = await say(session, "word")
    calls.length = 0
    expect(await find("word", { catchUp: "own" })).toEqual([second, first])
    // Read once, then compared with the session of the hits.
    expect(calls).toEqual(["head a", "read a 1-3", "head a"])
    await sessions.delete("a")
    expect(await find("word", { catchUp: "own" })).toEqual([])
  })

  test("with `own` finds what this process has merged from another storage", async () => {
    const { sessions, search, find } = createWorld()
    const session = await sessions.create({ id: "a" })
    const there = createMemoryStorage()
    await mergeSession(sessions, "a", there)
    await search.catchUp()
    const theirs = await createSessions({ storage: there }).open("a")
    const id = await say(theirs, "word")
    await theirs.close()
    await mergeSession(sessions, "a", there)
    expect(await find("word", { catchUp: "own" })).toEqual([id])
    await session.close()
  })

  test("with `own` gives no hit that another process has hidden or deleted", async () => {
    const location = createMemoryLocation()
    const { sessions, find } = createWorld({ storage: createMemoryStorage({ location }) })
    const other = createSessions({ storage: createMemoryStorage({ location }) })
    const [a, b] = [await sessions.create(), await sessions.create()]
    const [kept, hidden, deleted] = [await say(a, "word"), await say(a, "word"), await say(b, "word")]
    expect(await find("word")).toEqual([deleted, hidden, kept])
    await (await other.open(a.id)).tombstone(hidden)
    await other.delete(b.id)
    expect(await find("word", { catchUp: "own" })).toEqual([kept])
  })

  test.each([true, false])(
    "notices that a log was restored from a backup and has grown again (searched between: %s)",
    async (isBetween) => {
      const root = mkdtempSync(join(tmpdir(), "sessions-search-"))
      onTestFinished(() => rmSync(root, { recursive: true, force: true }))
      const index = createMemoryIndex()
      const use = async (work: (world: World, session: Session) => Promise<void>): Promise<void> => {
        const world = createWorld({
          storage: createFileStorage({ root: join(root, "store") }),
          index: { ...index, close: async () => undefined },
        })
        await work(world, await world.sessions.openOrCreate("a"))
        await world.search.close()
        await world.sessions.close()
      }
      const found: Record<string, string[]> = {}
      await use(async ({ find }, session) => {
        await say(session, "word one")
        copyStore(join(root, "store"), join(root, "backup"))
        await say(session, "word two")
        await say(session, "word three")
        found["before"] = await find("word")
      })
      rmSync(join(root, "store"), { recursive: true })
      copyStore(join(root, "backup"), join(root, "store"))
      if (isBetween)
        await use(async ({ find }) => {
          expect(await find("word")).toEqual(found["before"]?.slice(2))
        })
      await use(async ({ find }, session) => {
        for (const text of ["word four", "word five", "word six"]) await say(session, text)
        expect(await find("two")).toEqual([])
        expect(await find("word")).toHaveLength(4)
      })
    },
  )

  test("notices that a log was restored from a backup and has grown again to the same length", async () => {
    const root = mkdtempSync(join(tmpdir(), "sessions-search-"))
    onTestFinished(() => rmSync(root, { recursive: true, force: true }))
    const index = createMemoryIndex()
    const openWorld = (): World =>
      createWorld({
        storage: createFileStorage({ root: join(root, "store") }),
        index: { ...index, close: async () => undefined },
      })
    const before = openWorld()
    const session = await before.sessions.create({ id: "a" })
    await say(session, "word one")
    copyStore(join(root, "store"), join(root, "backup"))
    await say(session, "word two")
    expect(await before.find("word")).toHaveLength(2)
    await before.search.close()
    await before.sessions.close()
    rmSync(join(root, "store"), { recursive: true })
    copyStore(join(root, "backup"), join(root, "store"))
    const after = openWorld()
    const four = await say(await after.sessions.open("a"), "word four")
    expect(await after.find("two")).toEqual([])
    expect(await after.find("four", { catchUp: "own" })).toEqual([four])
    await after.search.close()
    await after.sessions.close()
  })

  test("one call at a time reads, and a call that comes meanwhile sees what was appended before it", async () => {
    const { storage, calls } = noting(createMemoryStorage())
    const { sessions, search } = createWorld({ storage })
    const session = await sessions.create()
    await say(session, "word")
    const first = search.search("word")
    await say(session, "later word")
    const others = await Promise.all([search.search("later"), search.search("later"), search.search("later")])
    expect((await first).hits.length).toBeGreaterThan(0)
    for (const { hits } of others) expect(hits).toHaveLength(1)
    expect(calls.filter((call) => call === "list")).toHaveLength(2)
  })

  test("asks again if another process changed the index between reading and the answer", async () => {
    const location = createMemoryLocation()
    const storage = createMemoryStorage({ location })
    const sessions = createSessions({ storage })
    const id = await say(await sessions.create({ id: "a" }), "word")
    const index = createMemoryIndex()
    let isFirst = true
    const shared: SearchIndex = {
      ...index,
      async query(query) {
        // As if another process had just begun to read the session anew.
        if (isFirst) {
          const { heads } = await index.heads()
          await index.write([
            { session: "a", expect: heads.get("a"), head: undefined, reset: true, removed: [], rows: [] },
          ])
        }
        isFirst = false
        return index.query(query)
      },
    }
    const search = createSearch({ storage, index: shared })
    expect((await search.search("word")).hits.map(({ entryId }) => entryId)).toEqual([id])
  })

  test("a signal ends the wait of its caller alone", async () => {
    const { sessions, search } = createWorld()
    await say(await sessions.create(), "word")
    const stop = new AbortController()
    const [aborted, other] = [search.search("word", { signal: stop.signal }), search.search("word")]
    stop.abort()
    await expect(aborted).rejects.toMatchObject({ code: "aborted" })
    expect((await other).hits).toHaveLength(1)
  })

  test("reports its progress, and how many sessions had changed", async () => {
    const { sessions, search } = createWorld()
    for (let count = 0; count < 3; count++) await say(await sessions.create(), "word")
    const seen: number[][] = []
    expect(await search.catchUp({ onProgress: ({ sessions: done, of }) => seen.push([done, of]) })).toEqual({
      sessions: 3,
      unreadable: [],
    })
    expect(seen).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
    ])
    expect(await search.catchUp()).toEqual({ sessions: 0, unreadable: [] })
  })
})
