/** Trimming: which checkpoints stay, and that they keep their values. */
import { DeltaSnapshot, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, onTestFinished, test } from "vitest"
import { createFailingStorage, repeated } from "./failing-storage.ts"
import { type Config, lastMessages, listed, META, put, startOf, valuesOf } from "./threads.ts"

function open(keep: number, storage: SessionStorage = createMemoryStorage()): SessionsSaver {
  const sessions = createSessions({ storage })
  const saver = new SessionsSaver({ sessions, keep })
  onTestFinished(async () => {
    await saver.close()
    await sessions.close()
  })
  return saver
}

test("a thread never has more than twice `keep` and 51 checkpoints, and those that stay are the newest, unchanged", async () => {
  const location = createMemoryLocation()
  const saver = open(10, createMemoryStorage({ location }))
  let last = startOf("t")
  let most = 0
  for (let n = 0; n < 200; n++) {
    last = await put(saver, last, { messages: lastMessages(n), kept: "same" }, { version: n, changed: ["messages"] })
    await saver.putWrites(last, [["messages", n]], "task")
    const all = await listed(saver, startOf("t"))
    most = Math.max(most, all.length)
    expect(all.map(({ checkpoint }) => checkpoint.channel_versions["messages"])).toEqual(all.map((_, at) => n - at))
    if (n < 190) continue
    expect(all.map(({ checkpoint }) => checkpoint.channel_values["messages"])).toEqual(
      all.map((_, at) => lastMessages(n - at)),
    )
    expect(all.map(({ pendingWrites }) => pendingWrites)).toEqual(all.map((_, at) => [["task", "messages", n - at]]))
  }
  expect(most).toBeGreaterThan(50)
  expect(most).toBeLessThanOrEqual(71)
  expect(await listed(open(10, createMemoryStorage({ location })), startOf("t"))).toEqual(
    await listed(saver, startOf("t")),
  )
})

test("each namespace keeps its newest, and writes whose checkpoint is not put yet stay", async () => {
  const saver = open(3)
  const inner = await put(saver, startOf("t", "inner"), { a: "inner" })
  const early = { configurable: { thread_id: "t", checkpoint_ns: "", checkpoint_id: uuid6(1_000) } }
  await saver.putWrites(early, [["a", "early"]], "task")
  let last = startOf("t")
  for (let n = 0; n < 60; n++) last = await put(saver, last, { a: n }, { version: n })
  expect((await listed(saver, startOf("t"))).length).toBeLessThan(12)
  expect(await valuesOf(saver, inner)).toEqual({ a: "inner" })
  await put(saver, last, { a: "late" }, { id: early.configurable.checkpoint_id })
  expect((await saver.getTuple(early))?.pendingWrites).toEqual([["task", "a", "early"]])
})

test("ancestors from which a kept checkpoint's delta channel is computed stay", async () => {
  const saver = open(2)
  let last: Config = startOf("t")
  for (let n = 0; n < 60; n++) {
    const channel_values = n % 40 === 0 ? { log: new DeltaSnapshot([`snapshot ${n}`]) } : {}
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(n), channel_values, channel_versions: { log: n } }
    const metadata = {
      ...META,
      ...(n % 40 > 0 && { counters_since_delta_snapshot: { log: [n % 40, n % 40] as [number, number] } }),
    }
    last = await saver.put(last, checkpoint, metadata, { log: n })
    await saver.putWrites(last, [["log", n]], "task")
  }
  expect((await listed(saver, startOf("t"))).length).toBeLessThan(60)
  const { log } = await saver.getDeltaChannelHistory({ config: last, channels: ["log"] })
  expect(log?.seed).toEqual(new DeltaSnapshot(["snapshot 40"]))
  expect(log?.writes.map(([, , value]) => value)).toEqual(Array.from({ length: 19 }, (_, n) => 40 + n))
})

test("another saver that has the thread open goes on after a trimming, and forgets no checkpoint of its own", async () => {
  const location = createMemoryLocation()
  const [one, two] = [open(5, createMemoryStorage({ location })), open(5, createMemoryStorage({ location }))]
  let last = startOf("t")
  for (let n = 0; n < 120; n++) {
    last = await put(
      n % 7 === 0 ? two : one,
      last,
      { n, same: "x".repeat(100) },
      { version: n, changed: n === 0 ? ["n", "same"] : ["n"] },
    )
    expect(await valuesOf(n % 3 === 0 ? one : two, startOf("t"))).toEqual({ n, same: "x".repeat(100) })
  }
  expect((await listed(two, startOf("t"))).length).toBeLessThan(62)
})

test("values in the blob store are kept", async () => {
  const saver = open(2)
  const text = "0123456789".repeat(60_000)
  let last = startOf("t")
  for (let n = 0; n < 60; n++)
    last = await put(saver, last, { text, n }, { version: n, changed: n === 0 ? ["text", "n"] : ["n"] })
  expect((await listed(saver, startOf("t"))).length).toBeLessThan(20)
  expect(await valuesOf(saver, last)).toEqual({ text, n: 59 })
})

test("`keep` must be a whole number from 1, and needs a storage that can replace a log", () => {
  for (const keep of [0, -1, 1.5, Number.NaN])
    expect(() => open(keep)).toThrow(expect.objectContaining({ code: "invalid" }))
  const memory = createMemoryStorage()
  const storage = { ...memory, capabilities: { ...memory.capabilities, replace: false } }
  expect(() => open(1, storage)).toThrow(expect.objectContaining({ code: "invalid" }))
})

test("if any call of the storage within a trimming fails, the put may be repeated, and no checkpoint that stays is lost or changed", async () => {
  const text = "0123456789".repeat(60_000)
  let isTrimmed = 0
  let isPast = false
  for (let n = 1; !isPast; n++) {
    const location = createMemoryLocation()
    const failing = createFailingStorage(createMemoryStorage({ location }))
    const saver = open(2, failing.storage)
    let last = startOf("t")
    let most = 0
    // The 52nd put trims.
    for (let at = 0; at < 53; at++) {
      failing.failAt(at === 51 ? n : 0)
      const values = { text, n: at }
      const options = { version: at, id: uuid6(at), changed: at === 0 ? ["text", "n"] : ["n"] }
      const parent = last
      last = await repeated(failing, () => put(saver, parent, values, options))
      if (at === 51) isPast = !failing.hasFailed()
      await repeated(failing, () => saver.putWrites(last, [["n", at]], "task"))
      failing.failAt(0)
      // Reading the thread after each put would take long.
      if (at < 50) continue
      const all = await listed(open(2, createMemoryStorage({ location })), startOf("t"))
      if (all.length < most) isTrimmed++
      most = all.length
      expect(all.length).toBeGreaterThanOrEqual(2)
      for (const [index, { checkpoint, pendingWrites }] of all.slice(0, 4).entries()) {
        expect(checkpoint.channel_values).toEqual({ text, n: at - index })
        expect(pendingWrites).toEqual([["task", "n", at - index]])
      }
    }
    expect(isTrimmed).toBe(n)
  }
})
