/** A thread of 5,000 checkpoints, and a storage whose calls fail. */
import { DeltaSnapshot, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { createFileStorage } from "@sessions/fs"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { createFailingStorage, repeated } from "./failing-storage.ts"
import { newFolder } from "./folders.ts"
import { type Config, lastMessages, listed, META, put, startOf, valuesOf } from "./threads.ts"

/** Counts the characters of the lines that are read. */
function counted(storage: SessionStorage): { readonly storage: SessionStorage; readonly take: () => number } {
  let size = 0
  return {
    storage: {
      ...storage,
      async *read(...args) {
        for await (const chunk of storage.read(...args)) {
          for (const line of chunk.lines) size += line.length
          yield chunk
        }
      },
    },
    take: () => {
      const was = size
      size = 0
      return was
    },
  }
}

test("of 5,000 checkpoints the latest is read from less than 1 MB, and the first ones listed from little more", async () => {
  const { storage, take } = counted(createFileStorage({ root: newFolder() }))
  const sessions = createSessions({ storage })
  const saver = new SessionsSaver({ sessions })
  let last = startOf("t")
  const configs: Config[] = []
  for (let n = 0; n < 5_000; n++) {
    last = await put(saver, last, { messages: lastMessages(n) }, { version: n })
    configs.push(last)
  }
  const again = new SessionsSaver({ sessions })
  take()
  expect(await valuesOf(again, startOf("t"))).toEqual({ messages: lastMessages(4_999) })
  expect(take()).toBeLessThan(1_000_000)
  let n = 4_999
  for await (const { checkpoint } of again.list(startOf("t"), { limit: 20 })) {
    expect(checkpoint.channel_values).toEqual({ messages: lastMessages(n--) })
  }
  expect(take()).toBeLessThan(2_000_000)
  for (const at of [0, 63, 64, 65, 2_500]) {
    expect(await valuesOf(again, configs[at] as Config)).toEqual({ messages: lastMessages(at) })
  }
  const [{ bytes = 0 } = {}] = [await storage.head((await sessions.list()).sessions[0]?.id ?? "")]
  expect(bytes).toBeLessThan(50_000_000)
  await saver.close()
  await sessions.close()
})

test("the history of a DeltaChannel reads the log about once, however many ancestors there are", async () => {
  const memory = createMemoryStorage()
  const { storage, take } = counted(memory)
  const sessions = createSessions({ storage })
  const saver = new SessionsSaver({ sessions })
  let last: Config = startOf("t")
  for (let n = 0; n < 1_000; n++) {
    const channel_values = n === 0 ? { log: new DeltaSnapshot(["seed"]) } : { other: lastMessages(n % 50) }
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(n), channel_values, channel_versions: { log: n, other: n } }
    last = await saver.put(last, checkpoint, META, { log: n, other: n })
    await saver.putWrites(last, [["log", n]], "task")
  }
  const again = new SessionsSaver({ sessions })
  const [{ bytes = 0 } = {}] = [await memory.head((await sessions.list()).sessions[0]?.id ?? "")]
  take()
  const { log } = await again.getDeltaChannelHistory({ config: last, channels: ["log"] })
  expect(take()).toBeLessThan(1.5 * bytes)
  expect(log?.seed).toEqual(new DeltaSnapshot(["seed"]))
  expect(log?.writes.map(([, , value]) => value)).toEqual(Array.from({ length: 999 }, (_, n) => n))
  await sessions.close()
})

test("if any call of the storage fails, a call that is repeated until it resolves is stored once, and no other is lost", async () => {
  const failing = createFailingStorage(createMemoryStorage())
  for (let n = 1; n < 60; n++) {
    failing.failAt(n)
    const sessions = createSessions({ storage: failing.storage })
    const saver = new SessionsSaver({ sessions, keep: 2 })
    const thread = `t${n}`
    let last = startOf(thread)
    for (let at = 0; at < 8; at++) {
      const id = `${thread}-${at}`
      last = await repeated(failing, () => put(saver, last, { n: at, kept: "same" }, { version: at, id }))
      await repeated(failing, () => saver.putWrites(last, [["n", at]], "task"))
    }
    failing.failAt(0)
    const all = await listed(saver, startOf(thread))
    expect(all.map(({ checkpoint }) => checkpoint.channel_values)).toEqual(
      Array.from({ length: 8 }, (_, at) => ({ n: 7 - at, kept: "same" })),
    )
    expect(all.map(({ pendingWrites }) => pendingWrites)).toEqual(
      Array.from({ length: 8 }, (_, at) => [["task", "n", 7 - at]]),
    )
    await saver.close()
  }
})
