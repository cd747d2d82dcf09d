/** Trimming: which checkpoints stay, and that they keep their values. */
import { DeltaSnapshot, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { boundedThreadTest, failingTrimTest, openTrimming } from "./trim.ts"
import { type Config, listed, META, put, startOf, valuesOf } from "./threads.ts"

boundedThreadTest(75)

test("each namespace keeps its newest, and writes whose checkpoint is not put yet stay", async () => {
  const saver = openTrimming(3)
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
  const saver = openTrimming(2)
  let last: Config = startOf("t")
  for (let n = 0; n < 60; n++) {
    // A channel that is undefined has no value: its history goes on to the ancestors.
    const channel_values = { log: n % 40 === 0 ? new DeltaSnapshot([`snapshot ${n}`]) : undefined }
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
  const [one, two] = [
    openTrimming(5, createMemoryStorage({ location })),
    openTrimming(5, createMemoryStorage({ location })),
  ]
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
  const saver = openTrimming(2)
  const text = "0123456789".repeat(60_000)
  let last = startOf("t")
  for (let n = 0; n < 60; n++)
    last = await put(saver, last, { text, n }, { version: n, changed: n === 0 ? ["text", "n"] : ["n"] })
  expect((await listed(saver, startOf("t"))).length).toBeLessThan(20)
  expect(await valuesOf(saver, last)).toEqual({ text, n: 59 })
})

test("`keep` must be a whole number from 1, and needs a storage that can replace a log", () => {
  for (const keep of [0, -1, 1.5, Number.NaN])
    expect(() => openTrimming(keep)).toThrow(expect.objectContaining({ code: "invalid" }))
  const memory = createMemoryStorage()
  const storage = { ...memory, capabilities: { ...memory.capabilities, replace: false } }
  expect(() => openTrimming(1, storage)).toThrow(expect.objectContaining({ code: "invalid" }))
})

failingTrimTest(13)
