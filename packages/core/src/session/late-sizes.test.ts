/** The sizes of a context are measured when they are read first; they are those of the moment in which the context was made. */
import { compact } from "@sessions/core/compaction"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { SUMMARY } from "../../test/compacting.ts"
import { user } from "../../test/writers.ts"
import type { SessionContext } from "../context/types.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "./repository.ts"
import type { Session } from "./types.ts"

const LONG = "A sentence of a conversation that is long enough to count. ".repeat(40)
const reply = (id: string, input: number): NewEntry => {
  const usage = { input, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: input + 10 }
  return { type: "message", id, message: { role: "assistant", content: LONG, usage } }
}

async function made(): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  await session.append([user(LONG, "u1"), reply("a1", 900)])
  await session.append([user(LONG, "u2"), reply("a2", 2_500), user("and?", "u3")])
  return session
}

const MEANWHILE: Readonly<Record<string, (session: Session, context: SessionContext) => unknown>> = {
  "more is appended": (session) => session.append([reply("a3", 9_000), user(LONG, "u4")]),
  "a message is deleted": (session) => session.tombstone("u1"),
  "a message is edited": (session) => session.edit("u1", { content: [{ type: "text", text: "short" }] }),
  "the session is compacted": (session) => compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 10 }),
  "the leaf moves": (session) => session.branch("u1"),
  "the session is closed": (session) => session.close(),
  "the caller changes its copies": (_, { messages }) => {
    for (const { message } of messages) Object.assign(message, { role: "tool", content: [], usage: {} })
    ;(messages as unknown[]).length = 1
  },
}

test.each(Object.entries(MEANWHILE))("%s", async (_, act) => {
  const [session, same] = [await made(), await made()]
  const context = await session.context()
  const { tokens, reused } = await same.context()
  await act(session, context)
  expect({ tokens: context.tokens, reused: { ...context.reused } }).toEqual({ tokens, reused: { ...reused } })
  expect(tokens).toBeGreaterThan(2_500)
  expect(JSON.parse(JSON.stringify(context))).toMatchObject({ tokens, reused })
})
