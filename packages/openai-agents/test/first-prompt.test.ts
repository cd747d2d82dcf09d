/** A list shows the first question of the history, not one that was taken back. */
import { createSessions, type Sessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createAgentSession, listAgentSessions, logIdOf } from "@sessions/openai-agents"
import { beforeEach, expect, test } from "vitest"

let storage = createMemoryStorage()
let sessions: Sessions
beforeEach(() => {
  storage = createMemoryStorage()
  sessions = createSessions({ storage })
})

const question = (content: string) => ({ type: "message", role: "user", content })
const ANSWER = {
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "a" }],
}

/** What another process lists. */
async function listed(): Promise<readonly unknown[]> {
  const other = createSessions({ storage })
  const page = await listAgentSessions(other)
  return page.sessions.map(({ sessionId, firstPrompt, metadata }) => [sessionId, firstPrompt, metadata])
}

const row = (firstPrompt: string | undefined): readonly unknown[] => [["s", firstPrompt, { sessionId: "s" }]]

test("after the first question was popped, cleared or replaced, the list has that of the history, and none if there is none", async () => {
  const session = createAgentSession({ sessions, sessionId: "s" })
  await session.addItems([question("one")])
  await session.popItem()
  expect(await listed()).toEqual(row(undefined))
  await session.addItems([ANSWER, question("two"), question("three")])
  expect(await listed()).toEqual(row("two"))
  await session.popItem()
  expect(await listed()).toEqual(row("two"))
  await session.applyHistoryTransaction({
    operationId: "1",
    transaction: { type: "replace_suffix", expectedSuffix: [question("two")], replacement: [question("four"), ANSWER] },
  })
  expect(await listed()).toEqual(row("four"))
  await session.clearSession()
  expect(await listed()).toEqual(row(undefined))
  await session.addItems([question(`  ${"x".repeat(199)}\u{1F600}`)])
  expect(await listed()).toEqual(row("x".repeat(199)))
})

test("a question that is deleted from the log is not listed, also behind one that was taken back", async () => {
  const session = createAgentSession({ sessions, sessionId: "s" })
  await session.addItems([question("one")])
  await session.clearSession()
  await session.addItems([question("two"), question("three")])
  const log = await sessions.open(await logIdOf("s"))
  const [two] = (await log.path({ types: ["message"] })).entries
  await log.append({ type: "tombstone", targetId: two?.id ?? "" })
  await log.close()
  expect(await listed()).toEqual(row("three"))
})

test("a compaction takes no question back", async () => {
  const session = createAgentSession({ sessions, sessionId: "s" })
  await session.addItems([question("one"), ANSWER])
  await session.replaceHistoryWithCompaction([{ type: "compaction", encrypted_content: "x" }])
  await session.addItems([question("two")])
  expect(await listed()).toEqual(row("one"))
})
