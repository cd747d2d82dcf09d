/** Operation ids of transactions outlive the items that they have added. */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createAgentSession } from "@sessions/openai-agents"
import { expect, test } from "vitest"

const ITEM = { type: "message", role: "user", content: "one" }
const APPEND = { operationId: "op-1", transaction: { type: "append_items" as const, items: [ITEM] } }

test.each([0, 1, 2])(
  "a transaction is not applied again after its item was taken back, %i items before it",
  async (count) => {
    const session = createAgentSession({ sessions: createSessions({ storage: createMemoryStorage() }) })
    const before = Array.from({ length: count }, () => ITEM)
    await session.addItems(before)
    await session.applyHistoryTransaction(APPEND)
    await session.popItem()
    await session.applyHistoryTransaction(APPEND)
    expect(await session.getItems()).toEqual(before)
  },
)

test("a transaction is not applied again after a compaction, and is after a clear", async () => {
  const session = createAgentSession({ sessions: createSessions({ storage: createMemoryStorage() }) })
  await session.applyHistoryTransaction(APPEND)
  await session.replaceHistoryWithCompaction([])
  await session.applyHistoryTransaction(APPEND)
  expect(await session.getItems()).toEqual([])
  await session.clearSession()
  await session.applyHistoryTransaction(APPEND)
  expect(await session.getItems()).toEqual([ITEM])
})
