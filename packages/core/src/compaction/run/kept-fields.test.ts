import { automaticCompaction, compact } from "../index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../../session/repository.ts"
import type { Session } from "../../session/types.ts"
import type { Summarize } from "../../compaction-settings/types.ts"
import { copySession, exportSession, forkSession, importSession, verifySession } from "../../transfer/index.ts"

const user = (content: string) => ({ type: "message", message: { role: "user", content } }) as const
/** What the model has answered may be summarized. */
const answered = (content: string) =>
  [user(content), { type: "message", message: { role: "assistant", content: "ok" } }] as const
const LONG = "x ".repeat(400)

function repository(summarize: Summarize) {
  return createSessions({
    storage: createMemoryStorage(),
    compaction: automaticCompaction({ summarize, keepRecentTokens: 0 }),
  })
}

async function compactionOf(session: Session) {
  const { entries } = await session.path({ types: ["compaction"], limit: 1 })
  return entries[0]
}

test("`shortSummary` and `preserveData` of an answer are in the compaction, in forks, copies and exports of it", async () => {
  const preserveData = { plan: ["a", null], at: 1 }
  const sessions = repository(async () => ({ content: "said", shortSummary: "Tests fixed", preserveData }))
  const session = await sessions.create({ id: "s" })
  await session.append(answered(LONG))
  await compact(session)
  const expected = { type: "compaction", shortSummary: "Tests fixed", preserveData }
  expect(await compactionOf(session)).toMatchObject(expected)
  expect(JSON.stringify((await session.context()).messages)).not.toContain("Tests fixed")
  expect(await compactionOf(await forkSession(sessions, "s"))).toMatchObject(expected)
  const there = repository(async () => "unused")
  await copySession(sessions, "s", there.storage)
  expect(await compactionOf(await there.open("s"))).toMatchObject(expected)
  let text = ""
  for await (const chunk of exportSession(sessions, "s")) text += chunk
  await importSession(there, new TextEncoder().encode(text), { id: "imported" })
  expect(await compactionOf(await there.open("imported"))).toMatchObject(expected)
  expect((await verifySession(there, "imported")).damaged).toBe(false)
})

test("of several answers the last one that gives a field decides", async () => {
  let asked = 0
  const sessions = repository(async () => {
    asked++
    return { content: "said", ...(asked === 1 ? { preserveData: 1 } : {}), shortSummary: `answer ${asked}` }
  })
  const session = await sessions.create()
  for (let i = 0; i < 6; i++) await session.append(user(`${i} ${"y ".repeat(2_000)}`))
  await compact(session, { summarizerWindow: 4_000, maxSummaryTokens: 200 })
  expect(asked).toBeGreaterThan(1)
  expect(await compactionOf(session)).toMatchObject({ shortSummary: `answer ${asked}`, preserveData: 1 })
})

const circle: Record<string, unknown> = {}
circle["self"] = circle

test.each([
  ["an empty short summary", { shortSummary: " " }],
  ["a short summary that is no text", { shortSummary: 5 as never }],
  ["data that is no JSON", { preserveData: () => 1 }],
  ["data with a circle", { preserveData: circle }],
])("%s fails the compaction and writes nothing", async (_, fields) => {
  const session = await repository(async () => ({ content: "said", ...fields })).create()
  await session.append(answered(LONG))
  await expect(compact(session)).rejects.toMatchObject({ code: "compaction_failed" })
  expect(await compactionOf(session)).toBeUndefined()
})

test("null is as good as no short summary", async () => {
  const session = await repository(async () => ({ content: "said", shortSummary: null })).create()
  await session.append(answered(LONG))
  await compact(session)
  expect(await compactionOf(session)).not.toHaveProperty("shortSummary")
})

test("a compaction may keep from another compaction on: what follows that one is kept, its summary is not repeated, and forks keep it so", async () => {
  const sessions = repository(async ({ prompt }) => (prompt.includes("<previous-summary>") ? "third" : "first"))
  const session = await sessions.create({ id: "s" })
  await session.append(answered(`one ${LONG}`))
  const first = await compact(session)
  const { ids } = await session.append([user("two"), user("three")])
  const compaction = { summary: "second", tokensBefore: 9, readFiles: [], modifiedFiles: [] }
  await session.append({ type: "compaction", id: "k2", firstKeptEntryId: first.entryId, ...compaction })
  await session.append({ ...user("four"), id: "u4" })
  const kept = ["k2", ...ids, "u4"]
  for (const one of [session, await forkSession(sessions, "s")]) {
    const { messages, diagnostics } = await one.context()
    expect(messages.map(({ entryId }) => entryId)).toEqual(kept)
    expect(JSON.stringify(messages)).toContain("second")
    expect(diagnostics).toEqual([])
  }
  expect((await verifySession(sessions, "s")).damaged).toBe(false)
  await session.append(answered(`five ${LONG}`))
  const next = await compact(session)
  expect((await session.context()).messages.map(({ entryId }) => entryId)).toEqual([next.entryId])
  expect(next.summary).toBe("third")
})
