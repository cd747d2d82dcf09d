/** What reading a history costs, counted in lines. */
import { createSessions, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createAgentSession, logIdOf } from "@sessions/openai-agents"
import { expect, test } from "vitest"

test("the first getItems of many turns reads each line about once, in few calls, and a later one only the end", async () => {
  const location = createMemoryLocation()
  const writer = createAgentSession({ sessions: at(location).sessions, sessionId: "s" })
  const items = Array.from({ length: 1_500 }, (_, n) => ({ type: "message", role: "user", content: `item ${n}` }))
  for (let n = 0; n < items.length; n += 3) await writer.addItems(items.slice(n, n + 3))
  const { sessions, reads } = at(location)
  const session = createAgentSession<object>({ sessions, sessionId: "s" })
  expect(await session.getItems()).toEqual(items)
  expect(reads.length).toBeLessThan(10)
  expect(reads.reduce((sum, lines) => sum + lines, 0)).toBeLessThan(items.length + 50)
  reads.length = 0
  expect(await session.getItems()).toEqual(items)
  expect(reads.reduce((sum, lines) => sum + lines, 0)).toBeLessThan(20)
})

test("the ids of a log ascend from its first entry, so that reading it needs no index of them", async () => {
  const storage = createMemoryStorage()
  // The calls of a storage take longer than the millisecond within which ids of two sources have no order.
  const slow: SessionStorage = {
    ...storage,
    async head(...args) {
      await nextMillisecond()
      return storage.head(...args)
    },
    async append(...args) {
      const head = await storage.append(...args)
      await nextMillisecond()
      return head
    },
  }
  const sessions = createSessions({ storage: slow })
  const session = createAgentSession<object>({ sessions, sessionId: "s" })
  for (let n = 0; n < 3; n++) await session.addItems(Array.from({ length: 20 }, () => ({ role: "user", content: "x" })))
  const ids: string[] = []
  const log = await sessions.open(await logIdOf("s"))
  for await (const { id } of log.entries()) ids.push(id)
  expect(ids).toHaveLength(61)
  expect(ids).toEqual(ids.toSorted())
})

async function nextMillisecond(): Promise<void> {
  const now = Date.now()
  while (Date.now() === now) await new Promise((resolve) => setImmediate(resolve))
}

/** `reads`: the lines that each read gives. */
function at(location: MemoryLocation): { readonly sessions: Sessions; readonly reads: number[] } {
  const storage = createMemoryStorage({ location })
  const reads: number[] = []
  const read: SessionStorage["read"] = async function* (...args) {
    const at = reads.push(0) - 1
    for await (const chunk of storage.read(...args)) {
      reads[at] = (reads[at] ?? 0) + chunk.lines.length
      yield chunk
    }
  }
  return { sessions: createSessions({ storage: { ...storage, read } }), reads }
}
