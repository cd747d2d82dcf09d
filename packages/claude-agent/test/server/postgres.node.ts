/** Transcripts on a real PostgreSQL server, by two stores with connections of their own. */
import assert from "node:assert/strict"
import { randomUUID } from "node:crypto"
import { test, type TestContext } from "node:test"
import { type ClaudeStore, createClaudeStore } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import { Pool } from "pg"

const schema = `claude_agent_${process.pid}`

function open(t: TestContext): ClaudeStore {
  const client = new Pool({ connectionString: process.env["POSTGRES_TEST_SERVER"] ?? "", allowExitOnIdle: true })
  const sessions = createSessions({ storage: createPostgresStorage({ client, schema }) })
  t.after(async () => {
    await sessions.close()
    await client.end()
  })
  return createClaudeStore({ sessions })
}

void test("lines that two stores append at once, and repeat, are loaded once, those of each in their order", async (t) => {
  const key = { projectKey: "-project", sessionId: randomUUID() }
  const lines = new Map(
    ["a", "b"].map((writer) => [
      writer,
      Array.from({ length: 30 }, (_, n) => ({ type: "user", uuid: randomUUID(), writer, n })),
    ]),
  )
  const work = async (writer: string): Promise<void> => {
    const store = open(t)
    const own = lines.get(writer) ?? []
    for (let n = 0; n < own.length; n += 3) {
      await store.append(key, own.slice(n, n + 3))
      await store.append(key, own.slice(n, n + 3))
    }
  }
  await Promise.all([work("a"), work("b")])
  const loaded = (await open(t).load(key)) ?? []
  assert.equal(loaded.length, 60)
  for (const [writer, own] of lines)
    assert.deepEqual(
      loaded.filter((line) => line["writer"] === writer),
      own,
    )
})
