/** What a saver guarantees beyond LangGraph's validation suite. */
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { createSessions, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { forkSession } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, onTestFinished, test } from "vitest"
import { lastMessages, listed, META, put, startOf, valuesOf } from "./threads.ts"

interface Opened {
  readonly sessions: Sessions
  readonly saver: SessionsSaver
}

function open(storage: SessionStorage = createMemoryStorage()): Opened {
  const sessions = createSessions({ storage })
  const saver = new SessionsSaver({ sessions })
  onTestFinished(async () => {
    await saver.close()
    await sessions.close()
  })
  return { sessions, saver }
}

test("forks of one checkpoint with equal versions keep their own values", async () => {
  const { saver } = open()
  const root = await put(saver, startOf("t"), { topic: "root", kept: "same" })
  const left = await put(saver, root, { topic: "left", kept: "same" }, { version: 2, changed: ["topic"] })
  const right = await put(saver, root, { topic: "right", kept: "same" }, { version: 2, changed: ["topic"] })
  const leftEnd = await put(saver, left, { topic: "left", kept: "new" }, { version: 2, changed: ["kept"] })
  expect(await valuesOf(saver, left)).toEqual({ topic: "left", kept: "same" })
  expect(await valuesOf(saver, right)).toEqual({ topic: "right", kept: "same" })
  expect(await valuesOf(saver, leftEnd)).toEqual({ topic: "left", kept: "new" })
})

test("a fork that LangGraph copies beside its original keeps the values of the original", async () => {
  const { saver } = open()
  const root = await put(saver, startOf("t"), { topic: "root" })
  const child = await put(saver, root, { topic: "child" }, { version: 2 })
  for (const [parent, original] of [
    [root, child],
    [startOf("t"), root],
  ] as const) {
    const tuple = await saver.getTuple(original)
    if (tuple === undefined) throw new Error("no checkpoint")
    const copy = { ...tuple.checkpoint, id: uuid6(50) }
    const put = await saver.put(parent, copy, { source: "fork", step: 1, parents: {} }, {})
    expect(await valuesOf(saver, put)).toEqual(tuple.checkpoint.channel_values)
  }
})

test("a saver that is opened again reads all checkpoints, and goes on with changes", async () => {
  const location = createMemoryLocation()
  const first = open(createMemoryStorage({ location }))
  let last = startOf("t")
  for (let n = 0; n < 150; n++) last = await put(first.saver, last, { messages: lastMessages(n) }, { version: n })
  await first.saver.close()
  const { saver, sessions } = open(createMemoryStorage({ location }))
  expect(await valuesOf(saver, startOf("t"))).toEqual({ messages: lastMessages(149) })
  const before = await sessions.storage.head(await idOf(sessions))
  last = await put(saver, last, { messages: lastMessages(150) }, { version: 150 })
  const after = await sessions.storage.head(await idOf(sessions))
  expect((after?.bytes ?? 0) - (before?.bytes ?? 0)).toBeLessThan(2_500)
  const all = await listed(saver, startOf("t"))
  expect(all.map(({ checkpoint }) => checkpoint.channel_values["messages"])).toEqual(
    Array.from({ length: 151 }, (_, n) => lastMessages(150 - n)),
  )
})

test("putWrites calls at once are all stored, in LangGraph's order, and a repeated one changes nothing", async () => {
  const { saver } = open()
  const config = await put(saver, startOf("t"), { a: 1 })
  const tasks = Array.from({ length: 50 }, (_, n) => `task-${String(n).padStart(2, "0")}`)
  const write = (value: string): Promise<unknown> =>
    Promise.all(
      tasks.toReversed().map((task) =>
        saver.putWrites(
          config,
          [
            ["a", value],
            ["b", task],
          ],
          task,
        ),
      ),
    )
  await write("first")
  await write("repeated")
  const { pendingWrites } = (await saver.getTuple(config)) ?? {}
  expect(pendingWrites).toEqual(
    tasks.flatMap((task) => [
      [task, "a", "first"],
      [task, "b", task],
    ]),
  )
})

test("writes that come before their checkpoint belong to it, also for a saver that is opened again", async () => {
  const location = createMemoryLocation()
  const { saver } = open(createMemoryStorage({ location }))
  const root = await put(saver, startOf("t"), { a: 1 })
  const id = uuid6(10)
  const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: id } }
  await saver.putWrites(config, [["a", "early"]], "task")
  expect(await saver.getTuple(config)).toBeUndefined()
  await saver.close()
  const again = open(createMemoryStorage({ location })).saver
  expect(await put(again, root, { a: 2 }, { version: 2, id })).toEqual(config)
  expect((await again.getTuple(config))?.pendingWrites).toEqual([["task", "a", "early"]])
  expect((await again.getTuple(startOf("t")))?.pendingWrites).toEqual([["task", "a", "early"]])
})

test("the latest checkpoint is the one with the greatest id, in whatever order two savers put them", async () => {
  const location = createMemoryLocation()
  const [one, two] = [open(createMemoryStorage({ location })).saver, open(createMemoryStorage({ location })).saver]
  const ids = Array.from({ length: 12 }, (_, n) => uuid6(n))
  const order = [5, 2, 9, 0, 11, 1, 3, 10, 4, 6, 8, 7]
  for (const [at, n] of order.entries())
    await put(at % 2 === 0 ? one : two, startOf("t"), { n }, { id: ids[n] as string })
  expect(await valuesOf(one, startOf("t"))).toEqual({ n: 11 })
  const all = await listed(two, startOf("t"))
  expect(all.map(({ checkpoint }) => checkpoint.id)).toEqual(ids.toReversed())
  for (const [n, id] of ids.entries()) {
    const config = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: id } }
    expect(await valuesOf(one, config)).toEqual({ n })
  }
})

test("a checkpoint that is put again replaces the one with its id, and checkpoints after it keep their values", async () => {
  const { saver } = open()
  const id = uuid6(1)
  const root = await put(saver, startOf("t"), { a: "first", b: "kept" }, { id })
  const child = await put(saver, root, { a: "first", b: "new" }, { changed: ["b"] })
  await put(saver, startOf("t"), { a: "second", b: "other" }, { id, version: 2 })
  expect(await valuesOf(saver, root)).toEqual({ a: "second", b: "other" })
  expect(await valuesOf(saver, child)).toEqual({ a: "first", b: "new" })
  expect(await listed(saver, startOf("t"))).toHaveLength(2)
})

test("values that are bytes, undefined, empty or have lone surrogates come back equal", async () => {
  const { saver } = open()
  const bytes = Uint8Array.from({ length: 70_000 }, (_, n) => n % 251)
  const values = {
    bytes,
    nested: { bytes: new Uint8Array([0, 255]) },
    none: null,
    empty: "",
    lone: "\ud800x",
    big: 1e21,
  }
  const root = await put(saver, startOf("t"), values)
  await saver.putWrites(root, [["bytes", bytes]], "task")
  const tuple = await saver.getTuple(root)
  expect(tuple?.checkpoint.channel_values).toEqual(values)
  expect(tuple?.pendingWrites).toEqual([["task", "bytes", bytes]])
  const child = await put(saver, root, { ...values, bytes: bytes.slice(1) }, { version: 2 })
  expect((await valuesOf(saver, child))?.["bytes"]).toEqual(bytes.slice(1))
})

test("a value of 2 MB, which is in the blob store, comes back equal with its changes", async () => {
  const location = createMemoryLocation()
  const { saver } = open(createMemoryStorage({ location }))
  const text = Array.from({ length: 2_000 }, (_, n) => lastMessages(n).at(-1)?.content).join()
  const root = await put(saver, startOf("t"), { text })
  const child = await put(saver, root, { text: `${text} and more` }, { version: 2 })
  const again = open(createMemoryStorage({ location })).saver
  expect(await valuesOf(again, root)).toEqual({ text })
  expect(await valuesOf(again, child)).toEqual({ text: `${text} and more` })
})

test("thread ids, namespaces, task ids and channels may be any text", async () => {
  const { saver } = open()
  const names = ["__proto__", "constructor", "", " ", "ä/ö\\ü", "a".repeat(5_000), "🙂"]
  for (const name of names) {
    const root = await put(saver, startOf(name, name), Object.fromEntries([[name, `of ${name}`]]))
    const writes: [string, string][] = [...names.map((other): [string, string] => [other, name]), [name, name]]
    await saver.putWrites(root, writes, name, name)
  }
  for (const name of names) {
    const tuple = await saver.getTuple(startOf(name, name))
    expect(Object.entries(tuple?.checkpoint.channel_values ?? {})).toEqual([[name, `of ${name}`]])
    expect(tuple?.pendingWrites).toEqual([...names, name].map((other) => [name, other, name]))
  }
  expect(await listed(saver, {})).toHaveLength(names.length)
})

test("sessions of other kinds, and copies of threads, are never listed", async () => {
  const { saver, sessions } = open()
  await put(saver, startOf("t"), { a: 1 })
  const id = await idOf(sessions)
  await (await forkSession(sessions, id)).close()
  await (await forkSession(sessions, id, { id: "langgraph.copy" })).close()
  await (await sessions.create({ id: "langgraph.other", metadata: { thread_id: "other" } })).close()
  expect((await listed(saver, {})).map(({ config }) => config.configurable)).toMatchObject([{ thread_id: "t" }])
  expect(await saver.getTuple(startOf("other"))).toBeUndefined()
})

test("deleteThread deletes one thread, is idempotent, and the thread can begin anew", async () => {
  const location = createMemoryLocation()
  const [one, two] = [open(createMemoryStorage({ location })).saver, open(createMemoryStorage({ location })).saver]
  const root = await put(one, startOf("t"), { a: 1, b: 1 })
  await put(one, startOf("kept"), { a: 2 })
  await two.deleteThread("t")
  await two.deleteThread("t")
  expect(await one.getTuple(startOf("t"))).toBeUndefined()
  // As a run does that goes on in another process: its checkpoint has all channels.
  await put(one, root, { a: 1, b: 2 }, { version: 2, changed: ["b"] })
  expect(await valuesOf(two, startOf("t"))).toEqual({ a: 1, b: 2 })
  expect(await valuesOf(two, startOf("kept"))).toEqual({ a: 2 })
})

test("a checkpoint without an id is `invalid`, and the thread stays readable", async () => {
  const { saver } = open()
  const root = await put(saver, startOf("t"), { a: 1 })
  const nameless = { ...emptyCheckpoint(), id: undefined as never }
  await expect(saver.put(root, nameless, META, {})).rejects.toMatchObject({ code: "invalid" })
  expect(await valuesOf(saver, startOf("t"))).toEqual({ a: 1 })
  expect(await listed(saver, startOf("t"))).toHaveLength(1)
})

test("calls without a thread or a checkpoint are `invalid`", async () => {
  const { saver } = open()
  const invalid = { code: "invalid" }
  await expect(put(saver, {}, { a: 1 })).rejects.toMatchObject(invalid)
  await expect(saver.putWrites({ configurable: { thread_id: "t" } }, [["a", 1]], "task")).rejects.toMatchObject(invalid)
})

async function idOf(sessions: Sessions): Promise<string> {
  const [first] = (await sessions.list({ kind: "langgraph" })).sessions
  if (first === undefined) throw new Error("no thread")
  return first.id
}
