/** What reading a history costs, counted in lines. */
import { createSessions, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createAgentSession } from "@sessions/openai-agents"
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
