/** The laws of trimming whose tests take long with many puts, or with a fault at each call. */
import { uuid6 } from "@langchain/langgraph-checkpoint"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, onTestFinished, test } from "vitest"
import { createFailingStorage, repeated } from "./failing-storage.ts"
import { lastMessages, listed, put, startOf } from "./threads.ts"

export function openTrimming(keep: number, storage: SessionStorage = createMemoryStorage()): SessionsSaver {
  const sessions = createSessions({ storage })
  const saver = new SessionsSaver({ sessions, keep })
  onTestFinished(async () => {
    await saver.close()
    await sessions.close()
  })
  return saver
}

/** More than 61 puts, so that the thread is trimmed. */
export function boundedThreadTest(puts: number): void {
  test(`a thread never has more than twice \`keep\` and 51 checkpoints, and those that stay are the newest, unchanged (${puts} puts)`, async () => {
    const location = createMemoryLocation()
    const saver = openTrimming(10, createMemoryStorage({ location }))
    let last = startOf("t")
    let most = 0
    for (let n = 0; n < puts; n++) {
      last = await put(saver, last, { messages: lastMessages(n), kept: "same" }, { version: n, changed: ["messages"] })
      await saver.putWrites(last, [["messages", n]], "task")
      const all = await listed(saver, startOf("t"))
      most = Math.max(most, all.length)
      expect(all.map(({ checkpoint }) => checkpoint.channel_versions["messages"])).toEqual(all.map((_, at) => n - at))
      if (n < puts - 10) continue
      expect(all.map(({ checkpoint }) => checkpoint.channel_values["messages"])).toEqual(
        all.map((_, at) => lastMessages(n - at)),
      )
      expect(all.map(({ pendingWrites }) => pendingWrites)).toEqual(all.map((_, at) => [["task", "messages", n - at]]))
    }
    expect(most).toBeGreaterThan(50)
    expect(most).toBeLessThanOrEqual(71)
    expect(await listed(openTrimming(10, createMemoryStorage({ location })), startOf("t"))).toEqual(
      await listed(saver, startOf("t")),
    )
  })
}

/** Only each `every`th call fails. */
export function failingTrimTest(every: number): void {
  test(`if any call of the storage within a trimming fails, the put may be repeated, and no checkpoint that stays is lost or changed (each ${every}. call)`, async () => {
    const text = "0123456789".repeat(60_000)
    let trimmed = 0
    let rounds = 0
    let isPast = false
    for (let n = 1; !isPast; n += every) {
      const location = createMemoryLocation()
      const failing = createFailingStorage(createMemoryStorage({ location }))
      const saver = openTrimming(2, failing.storage)
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
        const all = await listed(openTrimming(2, createMemoryStorage({ location })), startOf("t"))
        if (all.length < most) trimmed++
        most = all.length
        expect(all.length).toBeGreaterThanOrEqual(2)
        for (const [index, { checkpoint, pendingWrites }] of all.slice(0, 4).entries()) {
          expect(checkpoint.channel_values).toEqual({ text, n: at - index })
          expect(pendingWrites).toEqual([["task", "n", at - index]])
        }
      }
      expect(trimmed).toBe(++rounds)
    }
  })
}
