import { automaticCompaction, compact } from "../compaction/index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../session/repository.ts"
import type { Sessions } from "../session/repository-types.ts"
import type { Session } from "../session/types.ts"
import { copySession, exportSession, forkSession, importSession, mergeSession } from "../transfer/index.ts"

/** One question, and one answer that cost 0.5. */
const CALL = [
  { type: "message", message: { role: "user", content: "q" } },
  {
    type: "message",
    message: { role: "assistant", content: "a", usage: { input: 100, output: 10, totalTokens: 110, cost: 0.5 } },
  },
] as const

async function withCalls(session: Session, calls: number): Promise<readonly string[]> {
  const ids: string[] = []
  for (let i = 0; i < calls; i++) ids.push(...(await session.append(CALL)).ids)
  return ids
}

async function costOfList(sessions: Sessions): Promise<number> {
  const { sessions: rows } = await sessions.list()
  return rows.reduce((sum, { metrics }) => sum + (metrics.cost ?? 0), 0)
}

test("a list's total counts each call once, whatever was forked, and forks of forks", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const main = await sessions.create({ id: "main" })
  const ids = await withCalls(main, 4)
  const fork = await forkSession(sessions, "main", { id: "fork" })
  await withCalls(fork, 1)
  const second = await forkSession(sessions, "fork", { id: "second" })
  await withCalls(second, 1)
  const early = await forkSession(sessions, "main", { id: "early", at: ids[1] as string })

  expect(await costOfList(sessions)).toBe(3)
  expect((await main.info()).inheritedMetrics).toBeUndefined()
  expect(await fork.info()).toMatchObject({
    metrics: { calls: 1, input: 100, output: 10, totalTokens: 110, cost: 0.5 },
    inheritedMetrics: { calls: 4, input: 400, output: 40, totalTokens: 440, cost: 2 },
  })
  expect(await second.info()).toMatchObject({ metrics: { calls: 1 }, inheritedMetrics: { calls: 5, cost: 2.5 } })
  expect(await early.info()).toMatchObject({ metrics: { calls: 0 }, inheritedMetrics: { calls: 1, cost: 0.5 } })
  expect((await early.info()).metrics.cost).toBeUndefined()
})

test("the calls of a compaction and of a branch summary that were forked are inherited too", async () => {
  const usage = { input: 7, output: 1, totalTokens: 8 }
  const sessions = createSessions({
    storage: createMemoryStorage(),
    compaction: automaticCompaction({
      keepRecentTokens: 0,
      summarize: async () => ({ content: "## Goal\nx", stopReason: "stop", usage }),
    }),
  })
  const main = await sessions.create({ id: "main" })
  await main.append({ type: "message", message: { role: "user", content: "long ".repeat(500) } })
  await main.append({ type: "message", message: { role: "user", content: "a question" } })
  await compact(main)
  const fork = await forkSession(sessions, "main")
  expect(await fork.info()).toMatchObject({ metrics: { calls: 0 }, inheritedMetrics: { calls: 1, input: 7 } })
})

test("a subagent, which has a parent but none of its entries, has all of its calls as its own", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const main = await sessions.create({ id: "main" })
  const [, entryId] = await withCalls(main, 1)
  const child = await sessions.create({ kind: "subagent", parentSession: { id: "main", entryId: entryId as string } })
  await withCalls(child, 2)
  expect((await child.info()).metrics.calls).toBe(2)
  expect((await child.info()).inheritedMetrics).toBeUndefined()
  expect(await costOfList(sessions)).toBe(1.5)
})

test("an import and a copy of a fork keep what is inherited apart", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  await withCalls(await sessions.create({ id: "main" }), 4)
  await withCalls(await forkSession(sessions, "main", { id: "fork" }), 1)
  const expected = { metrics: { calls: 1, cost: 0.5 }, inheritedMetrics: { calls: 4, cost: 2 } }

  let text = ""
  for await (const chunk of exportSession(sessions, "fork")) text += chunk
  await importSession(sessions, new TextEncoder().encode(text), { id: "imported" })
  expect(await sessions.info("imported")).toMatchObject(expected)

  const there = createSessions({ storage: createMemoryStorage() })
  await copySession(sessions, "fork", there.storage)
  expect(await there.info("fork")).toMatchObject(expected)
  await withCalls(await there.open("fork"), 1)
  await mergeSession(sessions, "fork", there.storage)
  expect(await sessions.info("fork")).toMatchObject({ metrics: { calls: 2, cost: 1 }, inheritedMetrics: { calls: 4 } })
})

test("a fork of another system, which names its parent by a text, has inherited the entries that are older than itself", async () => {
  const at = (second: number): string => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString()
  const line = (id: string, parentId: string | null, second: number): object => ({
    type: "message",
    id,
    parentId,
    timestamp: at(second),
    message: { role: "assistant", content: [{ type: "text", text: id }], usage: { input: 1, output: 1 }, timestamp: 0 },
  })
  const header = { type: "session", version: 3, id: "f1", timestamp: at(10), cwd: "/p", parentSession: "/old/f0.jsonl" }
  const lines = [header, line("a1", null, 1), line("a2", "a1", 2), line("a3", "a2", 11)]
  const sessions = createSessions({ storage: createMemoryStorage() })
  await importSession(sessions, new TextEncoder().encode(lines.map((one) => `${JSON.stringify(one)}\n`).join("")), {
    id: "f1",
  })
  expect(await sessions.info("f1")).toMatchObject({ metrics: { calls: 1 }, inheritedMetrics: { calls: 2 } })
  await withCalls(await sessions.open("f1"), 1)
  expect(await sessions.info("f1")).toMatchObject({ metrics: { calls: 2 }, inheritedMetrics: { calls: 2 } })
})
