/** A thread of 5,000 checkpoints, and a storage whose calls fail. */
import { createFileStorage } from "@sessions/fs"
import { createSessions } from "@sessions/core"
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { newFolder } from "./folders.ts"
import { type Config, lastMessages, listed, put, startOf, valuesOf } from "./threads.ts"

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

test("if any call of the storage fails, a call that is repeated until it resolves is stored once, and no other is lost", async () => {
  const memory = createMemoryStorage()
  let calls = 0
  let failing = 0
  const fail = (): void => {
    if (++calls === failing) throw new StorageError("unavailable", "The storage does not answer.")
  }
  const storage: SessionStorage = {
    ...memory,
    append: async (...args) => {
      fail()
      const head = await memory.append(...args)
      if (++calls === failing) throw new StorageError("indeterminate", "The answer was lost.")
      return head
    },
    head: async (...args) => (fail(), memory.head(...args)),
    async *read(...args) {
      fail()
      yield* memory.read(...args)
    },
    replace: async (...args) => {
      fail()
      if (memory.replace === undefined) throw new Error("no replace")
      return memory.replace(...args)
    },
  }
  const repeated = async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!(error instanceof StorageError) || calls !== failing) throw error
      }
    }
  }
  for (failing = 1; failing < 60; failing++) {
    calls = 0
    const sessions = createSessions({ storage })
    const saver = new SessionsSaver({ sessions, keep: 2 })
    const thread = `t${failing}`
    let last = startOf(thread)
    for (let n = 0; n < 8; n++) {
      const id = `${thread}-${n}`
      last = await repeated(() => put(saver, last, { n, kept: "same" }, { version: n, id }))
      await repeated(() => saver.putWrites(last, [["n", n]], "task"))
    }
    failing = -failing
    const all = await listed(saver, startOf(thread))
    expect(all.map(({ checkpoint }) => checkpoint.channel_values)).toEqual(
      Array.from({ length: 8 }, (_, n) => ({ n: 7 - n, kept: "same" })),
    )
    expect(all.map(({ pendingWrites }) => pendingWrites)).toEqual(
      Array.from({ length: 8 }, (_, n) => [["task", "n", 7 - n]]),
    )
    failing = -failing
    await saver.close()
  }
})
