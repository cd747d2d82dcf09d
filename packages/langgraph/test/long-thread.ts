/** A thread of many checkpoints, of which little is read. */
import { createFileStorage } from "@sessions/fs"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { newFolder } from "./folders.ts"
import { type Config, lastMessages, put, startOf, valuesOf } from "./threads.ts"

/** Counts the characters of the lines that are read. */
export function counted(storage: SessionStorage): { readonly storage: SessionStorage; readonly take: () => number } {
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

/** The limits are those of a long thread: a short one must be longer than them to show that not all of it is read. */
export function longThreadTest(count: number): void {
  test(`of ${count.toLocaleString("en")} checkpoints the latest is read from less than 1 MB, and the first ones listed from little more`, async () => {
    const { storage, take } = counted(createFileStorage({ root: newFolder() }))
    const sessions = createSessions({ storage })
    const saver = new SessionsSaver({ sessions })
    let last = startOf("t")
    const configs: Config[] = []
    for (let n = 0; n < count; n++) {
      last = await put(saver, last, { messages: lastMessages(n) }, { version: n })
      configs.push(last)
    }
    const again = new SessionsSaver({ sessions })
    take()
    expect(await valuesOf(again, startOf("t"))).toEqual({ messages: lastMessages(count - 1) })
    expect(take()).toBeLessThan(1_000_000)
    let n = count - 1
    for await (const { checkpoint } of again.list(startOf("t"), { limit: 20 })) {
      expect(checkpoint.channel_values).toEqual({ messages: lastMessages(n--) })
    }
    expect(take()).toBeLessThan(2_000_000)
    for (const at of [0, 63, 64, 65, count / 2]) {
      expect(await valuesOf(again, configs[at] as Config)).toEqual({ messages: lastMessages(at) })
    }
    const [{ bytes = 0 } = {}] = [await storage.head((await sessions.list()).sessions[0]?.id ?? "")]
    expect(bytes).toBeLessThan(count * 10_000)
    await saver.close()
    await sessions.close()
  })
}
