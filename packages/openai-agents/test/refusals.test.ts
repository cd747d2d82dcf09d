/** Wrong arguments are `invalid`, with what is wrong, and change nothing. */
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { type AgentSession, type AgentSessionOptions, createAgentSession } from "@sessions/openai-agents"
import { expect, test } from "vitest"

const ITEM = { type: "message", role: "user", content: "one" }

const CALLS: Readonly<Record<string, (session: AgentSession<object>) => Promise<unknown>>> = {
  "items that are no array": (session) => session.addItems(undefined as never),
  "an item that is no object": (session) => session.addItems([ITEM, null as never]),
  "an item that contains itself": (session) => session.addItems([ITEM, cyclic()]),
  "a compaction that is no array": (session) => session.replaceHistoryWithCompaction({} as never),
  "mutations that are no array": (session) => session.applyHistoryMutations({} as never),
  "no arguments of a transaction": (session) => session.applyHistoryTransaction(undefined as never),
  "a limit that is no whole number": (session) => session.getItems(1.5),
  "a limit that is no number": (session) => session.getItems("2" as never),
  "a limit that is NaN": (session) => session.getItems(Number.NaN),
}

test.each(Object.keys(CALLS))("%s is `invalid`, and nothing is written", async (name) => {
  const session = createAgentSession<object>({ sessions: createSessions({ storage: createMemoryStorage() }) })
  await session.addItems([ITEM])
  await expect((async () => CALLS[name]?.(session))()).rejects.toMatchObject({ code: "invalid" })
  expect(await session.getItems()).toEqual([ITEM])
})

test("options that are none, or of the wrong kind, are `invalid`", () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  for (const options of [{}, { sessions, sessionID: "x" }, { sessions, metadata: "x" }, undefined])
    expect(() => createAgentSession(options as AgentSessionOptions)).toThrow(
      expect.objectContaining({ code: "invalid" }),
    )
})

function cyclic(): object {
  const item: Record<string, unknown> = { type: "x" }
  item["self"] = [item]
  return item
}
