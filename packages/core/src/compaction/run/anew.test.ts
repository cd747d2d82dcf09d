import { automaticCompaction, branchWithSummary, compact } from "../index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { buildSessionContext } from "../../context/build.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import { createSessions } from "../../session/repository.ts"
import type { Session } from "../../session/types.ts"
import type { Summarize } from "../../compaction-settings/types.ts"

/** A model that repeats every word with a mark: what it is told stays in its summary. */
const repeating: Summarize = async ({ prompt }) => ({
  content: `## Goal\n${[...new Set(prompt.match(/secret-\w+|word-\w+/g) ?? [])].join(" ")}`,
  stopReason: "stop",
  usage: { input: 5, output: 1 },
})

const LONG = "x ".repeat(400)

function user(id: string, content: string) {
  return { type: "message", id, message: { role: "user", content } } as const
}

/** What the model has answered may be summarized. */
function answered(id: string, content: string) {
  const message = { role: "assistant", content: "ok" } as const
  return [user(id, content), { type: "message", id: `${id}-answer`, message }] as const
}

function repository(readWindow = { first: 512, largest: 4096 }) {
  const storage = createMemoryStorage()
  const make = () =>
    createSessions({
      storage,
      readWindow,
      compaction: automaticCompaction({ keepRecentTokens: 0, summarize: repeating }),
    })
  return { make, sessions: make() }
}

async function outdatedOf(session: Session): Promise<readonly Diagnostic[]> {
  const { diagnostics } = await session.context()
  return diagnostics.filter(({ code }) => code === "summarized")
}

async function textOf(session: Session): Promise<string> {
  return JSON.stringify((await session.context()).messages)
}

const changes = {
  deleted: (session: Session, id: string) => session.tombstone(id),
  edited: (session: Session, id: string) => session.edit(id, { content: "redacted" }),
}

test.each(Object.entries(changes))(
  "a summarized message that is %s is named with its compaction, also by later summaries and in other processes, until the summary is made anew",
  async (_, change) => {
    const { make, sessions } = repository()
    const session = await sessions.create({ id: "s" })
    await session.append([user("u1", `secret-a ${LONG}`), ...answered("u2", `word-b ${LONG}`)])
    const first = await compact(session)
    expect(await outdatedOf(session)).toEqual([])
    await change(session, "u1")
    expect(await outdatedOf(session)).toMatchObject([{ entryId: first.entryId, entries: ["u1"] }])
    await session.append(answered("u3", `word-c ${LONG}`))
    const second = await compact(session)
    await session.append(Array.from({ length: 20 }, (__, index) => user(`v${index}`, `word-v${index} ${LONG}`)))
    await session.close()

    const elsewhere = await make().open("s")
    expect(await textOf(elsewhere)).toContain("secret-a")
    expect(await outdatedOf(elsewhere)).toMatchObject([{ entryId: second.entryId, entries: ["u1"] }])
    const third = await compact(elsewhere, { anew: true })
    expect(await outdatedOf(elsewhere)).toEqual([])
    const text = await textOf(elsewhere)
    expect(text).not.toContain("secret-a")
    for (const word of ["word-b", "word-c", "word-v0", "word-v19"]) expect(text).toContain(word)
    expect((await elsewhere.context()).messages.map(({ entryId }) => entryId)).toEqual([
      third.entryId,
      ...Array.from({ length: 20 }, (__, index) => `v${index}`),
    ])
    await elsewhere.append(user("u4", LONG))
    await compact(elsewhere)
    expect(await outdatedOf(elsewhere)).toEqual([])
    expect(await textOf(elsewhere)).not.toContain("secret-a")
  },
)

test("the summary made anew keeps from the same entry on, and the beginning of a split turn has its own request", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  await session.append([user("u1", `secret-a ${LONG}`), user("u2", `word-b ${LONG}`)])
  await session.append([
    { type: "message", id: "a1", message: { role: "assistant", content: `word-c ${LONG}` } },
    { type: "message", id: "a2", message: { role: "assistant", content: "kept" } },
  ])
  await compact(session, { keepMessages: 1 })
  await session.tombstone("u1")
  const { summary } = await compact(session, { anew: true })
  expect(summary).toContain("Turn Context")
  expect(summary).toContain("word-b word-c")
  expect((await session.context()).messages.map(({ entryId }) => entryId)[1]).toBe("a2")
})

test("the question that the summary is followed by is not outdated with it, and follows the summary made anew", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  const call = { type: "toolCall", id: "c", name: "read", arguments: {} } as const
  const result = {
    type: "message",
    message: { role: "toolResult", toolCallId: "c", toolName: "read", content: LONG },
  } as const
  await session.append([...answered("u1", `secret-a ${LONG}`), user("u2", `word-b ${LONG}`)])
  await session.append([{ type: "message", message: { role: "assistant", content: [call] } }, result])
  await session.append({ type: "message", id: "a2", message: { role: "assistant", content: [{ ...call, id: "d" }] } })
  const idsOf = async () => (await session.context({ repair: "none" })).messages.map(({ entryId }) => entryId)
  const { entryId } = await compact(session)
  expect(await idsOf()).toEqual([entryId, "u2", "a2"])
  await session.edit("u2", { content: "word-c" })
  expect(await outdatedOf(session)).toEqual([])
  await session.tombstone("u1")
  expect(await outdatedOf(session)).toMatchObject([{ entries: ["u1"] }])
  const anew = await compact(session, { anew: true })
  expect(anew.summary).not.toMatch(/secret-a|word-b/)
  expect(await idsOf()).toEqual([anew.entryId, "u2", "a2"])
  expect(await textOf(session)).toContain("word-c")
  await session.tombstone("u2")
  expect(await outdatedOf(session)).toEqual([])
})

test("a summary of which nothing is left says so, and no model is asked", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  await session.append(answered("u1", `secret-a ${LONG}`))
  await compact(session)
  await session.tombstone("u1")
  await session.tombstone("u1-answer")
  const none = async () => Promise.reject(new Error("asked"))
  const { summary } = await compact(session, { anew: true, summarize: none })
  expect(summary).toBe("Nothing is left of the conversation before this point.")
  expect(await outdatedOf(session)).toEqual([])
})

test("an entry that was deleted before the summary, is on another branch, or before a reset does not make it outdated", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  await session.append([user("r1", "before the reset"), { type: "reset_boundary" }])
  await session.append([user("u1", `word-a ${LONG}`), user("u2", `word-b ${LONG}`), user("u3", LONG)])
  await session.branch("u2")
  await session.append(user("u4", LONG))
  await session.tombstone("u1")
  await compact(session)
  await session.tombstone("u1")
  await session.tombstone("u3")
  await session.tombstone("r1")
  expect(await outdatedOf(session)).toEqual([])
})

test("a summary of a branch is outdated too, and is made anew by an edit whose calls are counted", async () => {
  const { make, sessions } = repository()
  const session = await sessions.create({ id: "s" })
  await session.append(user("u1", "start"))
  await session.append([user("b1", `secret-a ${LONG}`), user("b2", `word-b ${LONG}`)])
  await branchWithSummary(session, "u1", {})
  const summaryId = session.leafId
  await session.append(user("u2", "go on"))
  expect(await outdatedOf(session)).toEqual([])
  await session.tombstone("b1")
  expect(await outdatedOf(session)).toMatchObject([{ entryId: summaryId, entries: ["b1"] }])
  const { calls } = (await session.info()).metrics
  await compact(session, { anew: true })
  expect((await session.info()).metrics.calls).toBe(calls + 1)
  const elsewhere = await make().open("s")
  expect(await outdatedOf(elsewhere)).toEqual([])
  expect(await textOf(elsewhere)).not.toContain("secret-a")
  expect(await textOf(elsewhere)).toContain("word-b")
  expect(await textOf(elsewhere)).toContain("go on")
})

test("a compaction that covers the summary of a branch is outdated with it, and both are made anew", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  await session.append(user("u1", "start"))
  await session.append([user("b1", `secret-a ${LONG}`), user("b2", `word-b ${LONG}`)])
  await branchWithSummary(session, "u1", {})
  await session.append(answered("u2", `word-c ${LONG}`))
  const { entryId } = await compact(session)
  await session.tombstone("b1")
  expect(await outdatedOf(session)).toMatchObject([{ entryId, entries: ["b1"] }])
  const { summary } = await compact(session, { anew: true })
  expect(summary).not.toContain("secret-a")
  expect(summary).toContain("word-b")
  expect(summary).toContain("word-c")
  expect(await outdatedOf(session)).toEqual([])
})

test("a context that is built from entries says the same", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  await session.append(answered("u1", `secret-a ${LONG}`))
  const { entryId } = await compact(session)
  await session.tombstone("u1")
  const slots = [undefined]
  for await (const entry of session.entries()) slots.push(entry as never)
  expect(buildSessionContext(slots).diagnostics).toMatchObject([{ code: "summarized", entryId, entries: ["u1"] }])
})

test("`anew` is refused without a summary, with a rule of what is kept, and with another value", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  await session.append(answered("u1", LONG))
  await expect(compact(session, { anew: true })).rejects.toMatchObject({ code: "compaction_failed" })
  await compact(session)
  await expect(compact(session, { anew: true, keepTurns: 1 })).rejects.toMatchObject({ code: "invalid" })
  await expect(compact(session, { anew: 1 as never })).rejects.toMatchObject({ code: "invalid" })
})

test("an entry that is deleted while its summary is made anew is not in what is written", async () => {
  const { sessions } = repository()
  const session = await sessions.create()
  await session.append([user("u1", `secret-a ${LONG}`), user("u2", `word-b ${LONG}`)])
  await compact(session)
  const slow: Summarize = async (request) => {
    await session.tombstone("u1")
    return repeating(request)
  }
  const leaf = session.leafId
  await expect(compact(session, { anew: true, summarize: slow })).rejects.toMatchObject({ code: "compaction_failed" })
  const { entries } = await session.path({ limit: 1 })
  expect([entries[0]?.type, entries[0]?.parentId]).toEqual(["tombstone", leaf])
})
