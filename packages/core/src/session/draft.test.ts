/** Drafts: nothing is stored before somebody speaks, and everything is stored with the first message. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { cpuTime } from "../../test/cpu-time.ts"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  storedIds,
  storedLines,
  user,
  type Writer,
} from "../../test/writers.ts"
import type { Draft, DraftOptions } from "./repository-types.ts"

interface Drafted extends Writer {
  readonly location: ReturnType<typeof createMemoryLocation>
  readonly draft: Draft
}

async function start(o: DraftOptions = {}, more: Parameters<typeof createWriter>[1] = {}): Promise<Drafted> {
  const location = createMemoryLocation()
  const writer = createWriter(location, more)
  return { location, draft: await writer.sessions.draft({ id: "s", title: "t", ...o }), ...writer }
}

/** The code with which it rejects; undefined if it resolves. */
const refusal = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    ({ code }: { code: unknown }) => code,
  )

const appends = ({ storage }: Writer): number[] =>
  storage.calls.filter(({ operation }) => operation === "append").map(({ lines }) => lines.length)

for (const [until, first] of [
  ["user", user("first", "m")],
  ["user", assistant("first", "m")],
  ["assistant", assistant("first", "m")],
] as const) {
  const { role } = (first as { message: { role: string } }).message
  test(`a draft until "${until}" keeps its entries in memory, and the ${role}'s message is written with them in one batch`, async () => {
    const drafted = await start({ until, metadata: { k: 1 } })
    const { draft, location } = drafted
    const waiting = [
      { type: "session_init", systemPrompt: "be kind", tools: [], id: "i" } as const,
      { type: "model_change", provider: "p", model: "m", id: "c" } as const,
    ]
    expect(await draft.append(waiting)).toBeUndefined()
    expect(await draft.append({ type: "title_change", title: "named", source: "user", id: "n" })).toBeUndefined()
    expect((await draft.context()).model).toEqual({ provider: "p", model: "m" })
    expect([location.logs.size, location.docs.size, location.blobs.size]).toEqual([0, 0, 0])
    const session = await draft.append(first)
    expect(session).toMatchObject({ id: "s", leafId: "m", head: { next: 6 } })
    expect(appends(drafted)).toEqual([6])
    expect((await storedEntries(location)).slice(1).map(({ id, parentId, seq }) => [id, parentId, seq])).toEqual([
      ["i", expect.any(String), 2],
      ["c", "i", 3],
      ["n", "c", 4],
      ["m", "n", 5],
    ])
    expect((await reopened(location)).header).toMatchObject({ id: "s", title: "t" })
    expect(await session?.info()).toMatchObject({ title: "named", metadata: { k: 1 }, messageCount: 1 })
  })
}

test('a draft until "assistant" keeps the user\'s message too, and its context has it', async () => {
  const { draft, location } = await start({ until: "assistant" })
  expect(await draft.append(user("hello", "u"))).toBeUndefined()
  const { messages } = await draft.context()
  expect(messages.map(({ entryId }) => entryId)).toEqual(["u"])
  expect(location.logs.size).toBe(0)
  await draft.append(assistant("hello", "a"))
  expect(await storedIds(location)).toEqual(["u", "a"])
})

test("after the first message every append is written, and the context is that of the session", async () => {
  const { draft, location } = await start()
  const session = await draft.append(user("hello", "u"))
  expect(await draft.append(note("n", "n"))).toBe(session)
  await session?.append(assistant("answer", "a"))
  expect(await storedIds(location)).toEqual(["u", "n", "a"])
  expect((await draft.context()).messages.map(({ entryId }) => entryId)).toEqual(["u", "a"])
  await session?.close()
  expect(await codeOf(draft.append(user("more")))).toBe("closed")
  expect(await codeOf(draft.context())).toBe("closed")
})

test("entries have the time at which they were given to the draft", async () => {
  let time = Date.UTC(2026, 0, 1)
  const { draft, location } = await start({ until: "assistant" }, { now: () => time })
  await draft.append(user("hello"))
  time += 60_000
  await draft.append(assistant("hello"))
  expect((await storedEntries(location)).map(({ timestamp }) => timestamp)).toEqual([
    "2026-01-01T00:00:00.000Z",
    "2026-01-01T00:01:00.000Z",
  ])
})

test("the caller may go on with its objects, and make calls without awaiting them", async () => {
  const { draft, location, storage } = await start()
  const data = ["before"]
  const release = storage.hold("append")
  const made = [
    draft.append({ type: "custom", customType: "c", data, id: "n" }),
    draft.append(user("hello", "u")),
    draft.append(note("later", "l")),
  ]
  data[0] = "after"
  release()
  const [, session] = await Promise.all(made)
  expect(await storedIds(location)).toEqual(["n", "u", "l"])
  expect(await session?.entry("n")).toMatchObject({ data: ["before"] })
})

test("the hooks see each entry once, and `save` and `create` follow the creation", async () => {
  const seen: string[] = []
  const { draft, storage } = await start(
    {},
    {
      hooks: {
        append: (entry) => void seen.push(`append ${entry.type}`),
        save: ({ ids }) => seen.push(`save ${ids.length}`),
        create: ({ session }) => seen.push(`create ${session}`),
      },
    },
  )
  await draft.append(note("n"))
  storage.fail("append", "quota")
  expect(await codeOf(draft.append(user("hello")))).toBe("quota")
  await draft.append(user("again"))
  expect(seen).toEqual(["append custom", "append message", "append message", "save 2", "create s"])
})

test("a draft that is dropped leaves nothing in the storage, not even a blob, and its id free", async () => {
  const { draft, location, sessions } = await start({ until: "assistant" }, { blobs: { textUnits: 100 } })
  await draft.append([note("n"), user("long ".repeat(100))])
  await (await sessions.create({ id: "s" })).append(user("other", "o"))
  expect(await codeOf(draft.append(assistant("late")))).toBe("exists")
  expect(await storedIds(location)).toEqual(["o"])
  expect(location.blobs.size).toBe(0)
})

test("a failed creation keeps the entries from before it, and the next message writes them", async () => {
  const { draft, location, storage } = await start()
  await draft.append(note("n1", "n1"))
  await draft.append(note("n2", "n2"))
  storage.fail("append", "quota")
  const outcomes = [codeOf(draft.append(user("hello", "u1"))), draft.append(note("n3", "n3"))]
  expect(await Promise.all(outcomes)).toEqual(["quota", undefined])
  const session = await draft.append(user("hello", "u2"))
  expect((await storedEntries(location)).map(({ id, parentId }) => [id, parentId])).toEqual([
    ["n1", null],
    ["n2", "n1"],
    ["n3", "n2"],
    ["u2", "n3"],
  ])
  expect(session && (await contextTexts(session))).toEqual(["hello"])
})

test("messages whose creation failed leave room for others", async () => {
  const { draft, location, storage } = await start({}, { maxSessionBytes: 4_000 })
  for (let n = 0; n < 5; n++) {
    storage.fail("append", "quota")
    expect(await codeOf(draft.append(user("x".repeat(2_000))))).toBe("quota")
  }
  await draft.append(user("x".repeat(2_000), "u"))
  expect(await storedIds(location)).toEqual(["u"])
})

test("a failed put of a blob is not permanent: the next message puts it again", async () => {
  const { draft, location, storage } = await start({}, { blobs: { textUnits: 100 } })
  await draft.append({ type: "custom", customType: "c", data: "long ".repeat(100), id: "n" })
  storage.fail("put", "quota")
  expect(await codeOf(draft.append(user("hello", "u1")))).toBe("quota")
  await draft.append(user("hello", "u2"))
  expect(await storedIds(location)).toEqual(["n", "u2"])
  expect((await storedLines(createMemoryStorage({ location })))[1]).toContain("blob:sha256:")
})

test("a creation whose response was lost is one session with all entries of the draft", async () => {
  const { draft, location, storage } = await start()
  await draft.append(note("n", "n"))
  storage.fail("append", "response lost")
  await draft.append(user("hello", "u"))
  expect(await storedIds(location)).toEqual(["n", "u"])
})

test("after a creation with an unknown outcome the next append finds out, and writes nothing twice", async () => {
  for (const isLate of [true, false]) {
    const { draft, location, storage } = await start()
    await draft.append(note("n", "n"))
    storage.fail("append", isLate ? "late" : "request lost")
    storage.fail("head", "unavailable", "unavailable", "unavailable")
    expect(await codeOf(draft.append(user("hello", "u")))).toBe("indeterminate")
    expect((await draft.context()).messages).toHaveLength(1)
    expect(await storage.deliver()).toBe(isLate)
    expect(await draft.append([user("hello", "u"), note("later", "l")])).toMatchObject({ head: { next: 4 } })
    expect(await storedIds(location)).toEqual(["n", "u", "l"])
  }
})

test("a session that another writer has continued before the draft knew of it keeps both", async () => {
  const { draft, location, storage } = await start()
  storage.fail("append", "response lost")
  storage.fail("head", "unavailable", "unavailable", "unavailable")
  expect(await codeOf(draft.append(user("hello", "u")))).toBe("indeterminate")
  await (await reopened(location)).append(assistant("theirs", "x"))
  await draft.append(user("mine", "m"))
  expect(await storedIds(location)).toEqual(["u", "x", "m"])
})

test("an append that is aborted before it is sent is not in the draft, which goes on", async () => {
  const { draft, location, storage } = await start()
  await draft.append(note("n", "n"))
  const release = storage.hold("append")
  const controller = new AbortController()
  const made = codeOf(draft.append(user("hello", "u"), { signal: controller.signal }))
  while (appends({ storage } as Writer).length === 0) await new Promise((resolve) => setImmediate(resolve))
  controller.abort()
  release()
  expect(await made).toBe("aborted")
  await draft.append(user("again", "v"))
  expect(await storedIds(location)).toEqual(["n", "v"])
})

test("an id that another writer takes meanwhile is `exists`, and its session is left alone", async () => {
  const { draft, location } = await start()
  await draft.append(note("n", "n"))
  const other = await createWriter(location).sessions.create({ id: "s" })
  await other.append(user("theirs", "x"))
  expect(await codeOf(draft.append(user("mine", "u")))).toBe("exists")
  expect(await storedIds(location)).toEqual(["x"])
})

test("an append is rejected before the draft exceeds one batch or one session, or a line, and the others are kept", async () => {
  const limits = [
    { faulty: { capabilities: { maxBatchBytes: 4_000 } } },
    { maxSessionBytes: 4_000 },
    { faulty: { capabilities: { maxLineBytes: 1_500 } }, maxSessionBytes: 100_000 },
  ]
  for (const [index, limit] of limits.entries()) {
    const { draft, location } = await start({}, limit)
    const outcomes: unknown[] = []
    for (let n = 0; n < 4; n++) {
      const size = index === 2 && n === 3 ? 2_000 : 1_000
      outcomes.push(
        await refusal(draft.append({ type: "custom", customType: "c", data: "x".repeat(size), id: `n${n}` })),
      )
    }
    expect(outcomes).toEqual([undefined, undefined, undefined, "too_large"])
    expect(await codeOf(draft.append(user("y".repeat(3_000), "u1")))).toBe("too_large")
    expect(location.logs.size).toBe(0)
    await draft.append(user("hello", "u2"))
    expect(await storedIds(location)).toEqual(["n0", "n1", "n2", "u2"])
  }
})

test("an entry that is repeated is kept once, and one with the id of another is `exists`", async () => {
  const { draft, location } = await start()
  await draft.append(note("n", "n"))
  await draft.append(note("n", "n"))
  expect(await codeOf(draft.append(note("other", "n")))).toBe("exists")
  await draft.append([note("n", "n"), user("hello", "u")])
  expect(await storedIds(location)).toEqual(["n", "u"])
})

test("wrong options, headers and entries are `invalid`, and change nothing", async () => {
  const { draft, location, sessions } = await start()
  await expect(sessions.draft({ until: "system" } as never)).rejects.toMatchObject({
    code: "invalid",
    message: '`until` must be "user" or "assistant", not "system".',
  })
  expect(await codeOf(sessions.draft({ cwd: 5 } as never))).toBe("invalid")
  expect(await codeOf(sessions.draft({ id: "../s" }))).toBe("invalid")
  for (const wrong of [[], null, { type: "message" }, { role: "user", content: "hello" }])
    expect(await codeOf(draft.append(wrong as never))).toBe("invalid")
  expect(await codeOf(draft.append(note("n"), { at: null } as never))).toBe("invalid")
  await draft.append(user("hello", "u"))
  expect(await storedIds(location)).toEqual(["u"])
  await sessions.close()
  expect(await codeOf(sessions.draft())).toBe("closed")
})

test("an append to a draft costs the same, however many entries are in it", async () => {
  const { draft } = await start()
  const begin = cpuTime()
  for (let n = 0; n < 8_000; n++) await draft.append(note("n"))
  // Quadratic work would take seven seconds here; this is not a benchmark.
  expect(cpuTime() - begin).toBeLessThan(3_500)
})
