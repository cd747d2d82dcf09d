/** What a search finds and answers, on every kind of index. */
import { createSessions, hasCode } from "@sessions/core"
import { branchWithSummary } from "@sessions/core/compaction"
import { piLogs } from "@sessions/core/migrations"
import { type SessionStorage, StorageError, type StorageErrorCode } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { afterEach, describe, expect, test } from "vitest"
import { createMemoryIndex, createSearch, type ToMessage } from "../src/index.ts"
import { createWorld, marked, say, type World } from "./helpers.ts"
import { type IndexPlace, PLACES } from "./indexes.ts"

describe.each(Object.keys(PLACES))("a search with the index in %s", (kind) => {
  const places: IndexPlace[] = []
  const worlds: World[] = []
  const open = (): World => {
    const place = (PLACES[kind] as () => IndexPlace)()
    const world = createWorld({ index: place.open() })
    places.push(place)
    worlds.push(world)
    return world
  }
  afterEach(async () => {
    for (const { search } of worlds.splice(0)) await search.close()
    for (const place of places.splice(0)) await place.remove()
  })

  test("finds entries with a word that begins with each word, in any order, case and accent", async () => {
    const { sessions, find } = open()
    const session = await sessions.create()
    const id = await say(session, "The Deployment needs a KEY, Größe: naïve café")
    await say(session, "the deployment needs nothing")
    expect(await find("key deploy")).toEqual([id])
    expect(await find("NAIVE cafe grosse")).toEqual([])
    expect(await find("naive CAFÉ große")).toEqual([id])
    expect(await find("eployment")).toEqual([])
  })

  test("takes operators, quotes, NUL and other signs as separators, and finds nothing without a word", async () => {
    const { sessions, find } = open()
    const session = await sessions.create()
    const id = await say(session, 'a "quoted" NOT text\0with NUL OR near:colon* (brackets) -minus')
    for (const text of [
      '"quoted',
      "NOT text",
      "text\0",
      "a OR near",
      "near:colon*",
      "(brackets)",
      "-minus",
      "with\0nul",
    ])
      expect(await find(text), text).toEqual([id])
    expect(await find("NOT quoted absent")).toEqual([])
    for (const text of ["", " ", '"', "*", "\0", "()", "-"]) expect(await find(text), text).toEqual([])
  })

  test("finds a word directly behind the colour of a tool's output, and no code of the colour", async () => {
    const { sessions, search, find } = open()
    const session = await sessions.create()
    const ids = [
      await say(session, "\u001b[31mError\u001b[0m: \u001b[38;5;9mbroken pipe"),
      await say(session, "\u001b[31mError\u001b[0m: café \u001b[38;5;9mbroken pipe"),
    ]
    expect(await find("error broken")).toEqual(ids.toReversed())
    expect(await find("31m")).toEqual([])
    for (const { snippet } of (await search.search("error pipe")).hits)
      expect(marked(snippet)).toMatch(/31m\[Error\].*broken \[pipe\]/)
  })

  test("answers with session, entry, time, role and the match marked in its place", async () => {
    const { sessions, search } = open()
    const session = await sessions.create({ cwd: "/a" })
    const id = await say(
      session,
      `${"before ".repeat(100)}\n the deploy-key  is here ${"after ".repeat(100)}`,
      "assistant",
    )
    const { hits, next, unreadable } = await search.search("key dep")
    expect({ next, unreadable }).toEqual({ next: undefined, unreadable: [] })
    expect(hits).toEqual([
      {
        session: session.id,
        entryId: id,
        seq: 1,
        timestamp: (await session.entry(id))?.timestamp,
        role: "assistant",
        snippet: expect.anything(),
      },
    ])
    expect(marked(hits[0]?.snippet ?? [])).toMatch(/^…(before )+the \[deploy\]-\[key\] is here (after )+after…$/)
  })

  test("finds texts, thinking, tool calls with their arguments, output of commands, files and summaries, but no images", async () => {
    const { sessions, find } = open()
    const session = await sessions.create()
    const data = "imagedata".repeat(300)
    const { ids } = await session.append([
      {
        type: "message",
        message: { role: "assistant", content: [{ type: "thinking", thinking: "pondering", signature: "signed" }] },
      },
      {
        type: "message",
        message: {
          role: "assistant",
          content: [
            { type: "toolCall", id: "c1", name: "bash", arguments: { command: "npm ci", deep: [{ of: "nested" }] } },
          ],
        },
      },
      {
        type: "message",
        message: {
          role: "user",
          content: [
            { type: "image", data, mimeType: "image/png" },
            { type: "file", path: "/srv/report.pdf", mimeType: "application/pdf" },
          ],
        },
      },
      { type: "message", message: { role: "bashExecution", command: "uptime", output: "loadavg" } },
      { type: "custom_message", customType: "acme", content: "shown", display: true },
      { type: "custom_message", customType: "acme", content: "concealed", display: false },
      { type: "label", targetId: "x", label: "labelled" },
      { type: "acme:note", text: "foreign" },
    ])
    await branchWithSummary(session, ids[0] as string, "the abandoned branch")
    expect(await find("pondering")).toEqual([ids[0]])
    for (const word of ["bash", "npm", "nested"]) expect(await find(word), word).toEqual([ids[1]])
    expect(await find("report")).toEqual([ids[2]])
    expect(await find("uptime loadavg")).toEqual([ids[3]])
    expect(await find("shown", { role: "custom_message" })).toEqual([ids[4]])
    expect(await find("abandoned", { role: "branch_summary" })).toHaveLength(1)
    for (const word of ["signed", "imagedata", "concealed", "labelled", "foreign", "blob"])
      expect(await find(word), word).toEqual([])
  })

  test("filters by cwd, also after a move, and by role", async () => {
    const { sessions, find } = open()
    const [a, b] = [await sessions.create({ cwd: "/a" }), await sessions.create({ cwd: "/b" })]
    const [inA, inB] = [await say(a, "word"), await say(b, "word", "assistant")]
    expect(await find("word", { cwd: "/a" })).toEqual([inA])
    expect(await find("word", { role: "assistant" })).toEqual([inB])
    expect(await find("word", { role: "assistant", cwd: "/a" })).toEqual([])
    await sessions.move(a.id, { cwd: "/c" })
    expect(await find("word", { cwd: "/a" })).toEqual([])
    expect(await find("word", { cwd: "/c" })).toEqual([inA])
  })

  test("gives every hit once over the pages, newest first, also if many have one time", async () => {
    const { sessions, search } = open()
    const session = await sessions.create()
    const timestamp = "2026-02-03T04:05:06.000Z"
    const entries = Array.from({ length: 60 }, (_, at) => ({
      type: "message" as const,
      ...(at < 40 ? { timestamp } : {}),
      message: { role: "user" as const, content: `word ${at}` },
    }))
    const { ids } = await session.append(entries)
    for (const order of ["newest", "best"] as const) {
      const found: string[] = []
      const times: string[] = []
      let cursor: string | undefined
      do {
        const page = await search.search("word", { order, limit: 7, ...(cursor === undefined ? {} : { cursor }) })
        for (const hit of page.hits) {
          found.push(hit.entryId)
          times.push(hit.timestamp)
        }
        cursor = page.next
      } while (cursor !== undefined)
      expect([...found].sort()).toEqual([...ids].sort())
      if (order === "newest") expect(times).toEqual([...times].sort().reverse())
    }
  })

  test("with order best an entry with the words often and little else comes first", async () => {
    const { sessions, find } = open()
    const session = await sessions.create()
    const best = await say(session, "key key key")
    const other = await say(session, `key ${"and other words ".repeat(50)}`)
    expect(await find("key", { order: "best" })).toEqual([best, other])
    expect(await find("key")).toEqual([other, best])
  })

  test("refuses wrong options, and every call after it was closed", async () => {
    const { search } = open()
    for (const o of [
      { limit: 0 },
      { limit: 201 },
      { order: "oldest" },
      { catchUp: "none" },
      { cursor: 1 },
      { rolle: "user" },
      { cwd: 1 },
    ]) {
      await expect(search.search("a", o as never), JSON.stringify(o)).rejects.toMatchObject({ code: "invalid" })
    }
    await expect(search.search("a", { cursor: "nonsense" })).rejects.toMatchObject({ code: "invalid" })
    await expect(search.search("a", { cursor: "nonsense", order: "best" })).rejects.toMatchObject({ code: "invalid" })
    await expect(search.search("a", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" })
    await search.close()
    for (const call of [
      () => search.search("a"),
      () => search.catchUp(),
      () => search.update("x"),
      () => search.clear(),
    ])
      await expect(call()).rejects.toMatchObject({ code: "closed" })
  })
})

describe("the text of an entry", () => {
  test("is found whole if it is in the blob store, and its reference is not", async () => {
    const { storage, sessions, find } = createWorld()
    const session = await sessions.create()
    const id = await say(session, `${"long text ".repeat(60_000)} theend`)
    expect(await find("theend")).toEqual([id])
    for await (const { hash } of storage.blobs.list()) {
      expect(await find(hash)).toEqual([])
      await storage.blobs.delete(hash)
    }
    const later = createSearch({ storage, index: createMemoryIndex() })
    expect((await later.search("blob")).hits).toEqual([])
    expect((await later.search("theend")).hits).toEqual([])
  })

  test("is read from logs of older versions and other systems", async () => {
    const { storage, find } = createWorld()
    const lines = [
      { type: "session", version: 3, id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/old" },
      {
        type: "message",
        id: "a1",
        parentId: null,
        timestamp: "2025-01-01T00:00:01.000Z",
        message: { role: "user", content: "an older question" },
      },
    ]
    await storage.append(
      "old",
      lines.map((line) => JSON.stringify(line)),
      { expect: 0 },
    )
    expect(await find("older quest", { cwd: "/old" })).toEqual(["a1"])
    const head = await storage.head("old")
    const more = {
      type: "message",
      id: "a2",
      parentId: "a1",
      timestamp: "2025-01-01T00:00:02.000Z",
      message: { role: "assistant", content: "an older answer" },
    }
    await storage.append("old", [JSON.stringify(more)], { expect: { log: head?.log ?? "", next: 2 } })
    expect(await find("older")).toEqual(["a2", "a1"])
    // A migration replaces the log.
    const sessions = createSessions({ storage, readers: [piLogs] })
    const session = await sessions.open("old")
    const newest = await say(session, "and a newer one")
    await session.close()
    expect(await find("newer")).toEqual([newest])
    expect(await find("older")).toEqual(["a2", "a1"])
  })
})

describe("sessions that cannot be read", () => {
  test("are named, have no hits, and hide no other", async () => {
    const { storage, sessions, search } = createWorld()
    const session = await sessions.create()
    const id = await say(session, "word")
    await storage.append("broken", ["no session word"], { expect: 0 })
    const { hits, unreadable } = await search.search("word")
    expect(hits.map(({ entryId }) => entryId)).toEqual([id])
    expect(unreadable.map((one) => [one.id, hasCode(one.error, "not_a_session")])).toEqual([["broken", true]])
    await expect(search.update("broken")).rejects.toMatchObject({ code: "not_a_session" })
    await storage.delete("broken")
    expect((await search.search("word")).unreadable).toEqual([])
  })

  test.each(["all", "own"] as const)("are read once their errors have passed, with catchUp %j", async (catchUp) => {
    const { storage, fault } = faulty()
    const { sessions, search, find } = createWorld({ storage })
    const id = await say(await sessions.create(), "word")
    for (const code of ["misconfigured", "indeterminate"] as const) {
      fault.code = code
      await search.clear()
      const { hits, unreadable } = await search.search("word", { catchUp })
      expect(hits).toEqual([])
      expect(unreadable).toMatchObject([{ error: { code } }])
      fault.code = undefined
      expect(await find("word", { catchUp })).toEqual([id])
    }
  })

  test("are read again when a backup of the same length was put back, and not before", async () => {
    const { storage, fault } = faulty()
    const { sessions, search, find } = createWorld({ storage })
    const id = await say(await sessions.create(), "word")
    fault.code = "corrupt"
    for (let n = 0; n < 2; n++) expect((await search.search("word")).unreadable).toHaveLength(1)
    expect(fault.reads).toBe(1)
    fault.code = undefined
    fault.later = 1_000
    expect(await find("word")).toEqual([id])
  })
})

/** A storage whose logs cannot be read while `code` is set, and were changed `later`, in milliseconds, than they were. */
function faulty() {
  const inner = createMemoryStorage()
  const fault: { code: StorageErrorCode | undefined; later: number; reads: number } = {
    code: undefined,
    later: 0,
    reads: 0,
  }
  const storage: SessionStorage = {
    ...inner,
    read(...given) {
      if (fault.code === undefined) return inner.read(...given)
      fault.reads++
      throw new StorageError(fault.code, "The log cannot be read.")
    },
    async head(...given) {
      const head = await inner.head(...given)
      return head && { ...head, updatedAt: head.updatedAt + fault.later }
    },
    async *list(...given) {
      for await (const row of inner.list(...given)) {
        yield row.error === undefined ? { ...row, updatedAt: row.updatedAt + fault.later } : row
      }
    },
  }
  return { storage, fault }
}

test("finds what `toMessage` makes of other entries, also of lines that come later, and hides it as any other", async () => {
  const storage = createMemoryStorage()
  const toMessage: ToMessage = ({ type, data }) =>
    type === "custom" ? { role: "user", content: [{ type: "text", text: String(data) }] } : undefined
  const search = createSearch({ storage, index: createMemoryIndex(), toMessage })
  const found = async (words: string): Promise<readonly string[]> =>
    (await search.search(words)).hits.map(({ role, entryId }) => `${role} ${entryId}`)
  const sessions = createSessions({ storage })
  const session = await sessions.create({
    entries: [{ type: "custom", id: "one", customType: "a:b", data: "the deploy key" }],
  })
  expect(await found("deploy")).toEqual(["user one"])
  await session.append({ type: "custom", id: "two", customType: "a:b", data: "another key" })
  await session.append({ type: "label", targetId: "one", label: "key" })
  expect([...(await found("key"))].sort()).toEqual(["user one", "user two"])
  await session.tombstone("one")
  expect(await found("key")).toEqual(["user two"])
  await search.close()
})
