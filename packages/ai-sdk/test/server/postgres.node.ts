/** Chats on a real PostgreSQL server, by stores with connections of their own. */
import assert from "node:assert/strict"
import { test, type TestContext } from "node:test"
import { createChatStore } from "@sessions/ai-sdk"
import { createSessions } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import type { UIMessage } from "ai"
import { Pool } from "pg"

const schema = `ai_sdk_${process.pid}`

function open(t: TestContext): ReturnType<typeof createChatStore> {
  const client = new Pool({ connectionString: process.env["POSTGRES_TEST_SERVER"] ?? "", allowExitOnIdle: true })
  const sessions = createSessions({ storage: createPostgresStorage({ client, schema }) })
  t.after(async () => {
    await sessions.close()
    await client.end()
  })
  return createChatStore(sessions)
}

void test("a chat that two stores save in turn is loaded as it was saved last, and a repeated save changes nothing", async (t) => {
  const stores = [open(t), open(t)] as const
  const chatId = await stores[0].createChat()
  const messages: UIMessage[] = []
  for (let n = 0; n < 12; n++) {
    const role = n % 2 === 0 ? "user" : "assistant"
    messages.push({ id: `m${n}`, role, parts: [{ type: "text", text: `message ${n}` }] })
    await stores[n % 2 === 0 ? 0 : 1].saveChat({ chatId, messages })
    await stores[n % 2 === 0 ? 1 : 0].saveChat({ chatId, messages })
    assert.deepEqual(await open(t).loadChat(chatId), messages)
  }
})
