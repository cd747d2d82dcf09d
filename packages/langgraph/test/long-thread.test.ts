/** A long thread, and a storage whose calls fail. */
import { DeltaSnapshot, emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { createFailingStorage, repeated } from "./failing-storage.ts"
import { counted, longThreadTest } from "./long-thread.ts"
import { type Config, lastMessages, listed, META, put, startOf } from "./threads.ts"

longThreadTest(400)

test("the history of a DeltaChannel reads the log about once, however many ancestors there are", async () => {
  const memory = createMemoryStorage()
  const { storage, take } = counted(memory)
  const sessions = createSessions({ storage })
  const saver = new SessionsSaver({ sessions })
  let last: Config = startOf("t")
  for (let n = 0; n < 400; n++) {
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
  expect(log?.writes.map(([, , value]) => value)).toEqual(Array.from({ length: 399 }, (_, n) => n))
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
