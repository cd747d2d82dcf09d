/** The number of statements of common calls, each of which is a round trip. */
import { createSessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { createPostgresStorage, type PostgresConnection } from "@sessions/postgres"
import { expect, test } from "vitest"
import { database } from "./database.ts"

const sent: string[] = []
const client: PostgresConnection = {
  query(text, values) {
    sent.push(text)
    return database.query(text, values)
  },
}
const storage = createPostgresStorage({ client, durability: "os" })

async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  await storage.head("any")
  sent.length = 0
  await work()
  return sent.length
}

const words = (n: number): string => `${n} ${"word ".repeat(2_000)}`

export function roundTripTests(): void {
  test.each([
    ["short", 3, false],
    ["compacted", 200, true],
  ])("the context of a %s session takes two round trips", async (id, messages, isCompacted) => {
    const session = await createSessions({ storage }).create({ id })
    for (let n = 0; n < messages; n++)
      await session.append({
        type: "message",
        message: { role: n % 2 === 0 ? "user" : "assistant", content: words(n) },
      })
    if (isCompacted) await compact(session, { summarize: async () => "## Goal", keepRecentTokens: 10_000 })
    await session.close()
    const statements = await statementsOf(async () => {
      const opened = await createSessions({ storage }).open(id)
      expect((await opened.context()).messages.length).toBeGreaterThan(0)
    })
    expect(statements).toBe(2)
  })

  test("a session whose first line is longer than a kilobyte or damaged is opened by a read of this line", async () => {
    await storage.append("long", [JSON.stringify("x".repeat(2_000))], { expect: 0 })
    expect(await storage.head("long", { first: true })).not.toHaveProperty("first")
    await storage.append("damaged", ["x"], { expect: 0 })
    await database.query("UPDATE sessions.batch SET body = '\\xff0a' WHERE body = '\\x780a'")
    expect(await storage.head("damaged", { first: true })).not.toHaveProperty("first")
  })

  test("an append takes one round trip", async () => {
    const session = await createSessions({ storage }).create({ id: "appended" })
    await session.append({ type: "message", message: { role: "user", content: "one" } })
    const append = (): Promise<unknown> =>
      session.append({ type: "message", message: { role: "user", content: "two" } })
    expect(await statementsOf(append)).toBe(1)
  })
}
