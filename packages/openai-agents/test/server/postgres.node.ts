/** Sessions on a real PostgreSQL server, by writers with connections of their own. */
import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { createSessions } from "@sessions/core"
import { type AgentSession, createAgentSession } from "@sessions/openai-agents"
import { createPostgresStorage } from "@sessions/postgres"
import { Pool } from "pg"
import { call, historiesAfter } from "../calls.ts"

const schema = `openai_agents_${process.pid}`

function open(t: TestContext, sessionId: string): AgentSession<object> {
  const client = new Pool({ connectionString: process.env["POSTGRES_TEST_SERVER"] ?? "", allowExitOnIdle: true })
  const sessions = createSessions({ storage: createPostgresStorage({ client, schema }) })
  t.after(async () => {
    await sessions.close()
    await client.end()
  })
  return createAgentSession<object>({ sessions, sessionId })
}

void test("calls of two writers in turn leave the history that the reference has", async (t) => {
  const writers = [open(t, "calls"), open(t, "calls")] as const
  const histories = await historiesAfter(32)
  for (let n = 0; n < 32; n++) {
    await call(writers[n % 2 === 0 ? 0 : 1], n)
    assert.deepEqual(await writers[n % 2 === 0 ? 1 : 0].getItems(), histories[n + 1])
  }
})

void test("items that two writers add at once follow each other, each call whole", async (t) => {
  const turn = (writer: string, n: number): object[] =>
    [1, 2, 3].map((part) => ({ type: "message", role: "user", content: `${writer} ${n} ${part}` }))
  const work = async (writer: string): Promise<void> => {
    const session = open(t, "turns")
    for (let n = 0; n < 20; n++) await session.addItems(turn(writer, n))
  }
  await Promise.all([work("a"), work("b")])
  const items = await open(t, "turns").getItems()
  const counts = { a: 0, b: 0 }
  for (let at = 0; at < items.length; at += 3) {
    const writer = (items[at] as { content: string }).content.startsWith("a") ? "a" : "b"
    assert.deepEqual(items.slice(at, at + 3), turn(writer, counts[writer]++))
  }
  assert.deepEqual(counts, { a: 20, b: 20 })
})
