import { automaticCompaction, compact, shorten } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { reusedLaw } from "../../test/reused-law.ts"
import { assistant, user } from "../../test/writers.ts"
import type { Reused } from "../context/types.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "./repository.ts"
import type { ContextOptions, Session } from "./types.ts"

const QUESTION = "x".repeat(400)

async function started(entries: readonly NewEntry[], header: object = {}): Promise<Session> {
  const location = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s", ...header })
  await session.append(entries)
  return session
}

async function reused(session: Session, o?: ContextOptions): Promise<Reused> {
  return (await session.context(o)).reused
}

function calling(id: string): NewEntry {
  const call = { type: "toolCall" as const, id, name: "read", arguments: {} }
  return { type: "message", id: `call-${id}`, message: { role: "assistant", content: [call] } }
}

function result(id: string, content = "done"): NewEntry {
  return {
    type: "message",
    id: `result-${id}`,
    message: { role: "toolResult", toolCallId: id, isError: false, content },
  }
}

test("before the first answer nothing is reused, and then all that its request had", async () => {
  const session = await started([user(QUESTION)])
  expect(await reused(session)).toEqual({ tokens: 0 })
  await session.append(assistant("a"))
  expect(await reused(session)).toEqual({ tokens: 100 })
  await session.append([calling("c"), result("c")])
  // The request of the call had the first answer, too.
  expect(await reused(session)).toEqual({ tokens: 101 })
})

test("the tokens are counted as those of the context, by the same counter", async () => {
  const sessions = createSessions({
    storage: createMemoryStorage(),
    compaction: automaticCompaction({ enabled: false, countTokens: () => 7 }),
  })
  const session = await sessions.create()
  await session.append([user("q"), assistant("a"), user("q")])
  expect(await session.context()).toMatchObject({ tokens: 21, reused: { tokens: 7 } })
})

test("an edit and a deletion of an earlier message are named, those of a later one are not", async () => {
  const session = await started([
    user(QUESTION, "q1"),
    assistant("a"),
    user(QUESTION, "q2"),
    assistant("b", "b"),
    user("c", "q3"),
  ])
  expect(await reused(session)).toEqual({ tokens: 201 })
  await session.edit("q3", { content: "d" })
  expect(await reused(session)).toEqual({ tokens: 201 })
  const { ids } = await session.edit("q2", { content: "shorter" })
  expect(await reused(session)).toEqual({ tokens: 101, brokenBy: { entryId: ids[0], reason: "edit" } })
  const deleted = await session.tombstone("q1")
  expect(await reused(session)).toEqual({ tokens: 0, brokenBy: { entryId: deleted.ids[0], reason: "tombstone" } })
  // The next request has been made with these.
  await session.append([assistant("d"), user("e")])
  expect((await reused(session)).brokenBy).toBeUndefined()
})

test("a deletion of an earlier message breaks the prefix there", async () => {
  const session = await started([user(QUESTION), assistant("a"), user("b", "b"), assistant("c"), user("d")])
  const { ids } = await session.tombstone("b")
  expect(await reused(session)).toEqual({ tokens: 101, brokenBy: { entryId: ids[0], reason: "tombstone" } })
})

test("a result that replaces an invented one is named", async () => {
  const session = await started([user(QUESTION), calling("c"), user("go on"), assistant("a")])
  expect((await reused(session)).brokenBy).toBeUndefined()
  await session.append(result("c"))
  // The question and the call.
  const { tokens, brokenBy } = await reused(session)
  expect(brokenBy).toEqual({ entryId: "result-c", reason: "result" })
  expect(tokens).toBeLessThan(110)
})

test("a compaction and a reset are named, and only the prompt is reused behind them", async () => {
  const session = await started([user(QUESTION), assistant("a"), user("b"), assistant("c")])
  const { entryId } = await compact(session, { summarize: async () => "short", keepTurns: 1 })
  expect(await reused(session)).toEqual({ tokens: 0, brokenBy: { entryId, reason: "compaction" } })
  await session.append([user("d"), assistant("e")])
  expect((await reused(session)).brokenBy).toBeUndefined()
  const { ids } = await session.append([{ type: "reset_boundary" }, user("f")])
  expect(await reused(session)).toEqual({ tokens: 0, brokenBy: { entryId: ids[0], reason: "reset" } })
})

test("a branch, another model and another thinking level are named; settling a branch is not one", async () => {
  const session = await started([user(QUESTION, "q"), assistant("a"), user("b", "b"), assistant("c")])
  const { ids } = await session.branch("b")
  expect(await reused(session)).toEqual({ tokens: 100, brokenBy: { entryId: ids[0], reason: "branch" } })
  await session.append([assistant("d"), user("e")])
  await session.settle([ids[0] as string])
  expect((await reused(session)).brokenBy).toBeUndefined()
  const level = await session.append({ type: "thinking_level_change", thinkingLevel: "high" })
  expect((await reused(session)).brokenBy).toEqual({ entryId: level.ids[0], reason: "setting" })
  await session.append([assistant("f"), user("g")])
  const model = await session.append({ type: "model_change", provider: "p", model: "m" })
  expect((await reused(session)).brokenBy).toEqual({ entryId: model.ids[0], reason: "model" })
})

test("a step of pruning is named by the message with which it was taken", async () => {
  const session = await started([
    user(QUESTION),
    calling("a"),
    result("a", "x".repeat(20_000)),
    calling("b"),
    result("b"),
  ])
  const o = { window: 4_000, shorten: shorten({ keepAssistantMessages: 2, hardClearShare: false }) } as const
  expect(await reused(session, o)).toEqual({ tokens: 5_102 })
  // Now the first result is old enough.
  await session.append(calling("c"))
  const { tokens, brokenBy } = await reused(session, o)
  expect({ tokens, brokenBy }).toEqual({ tokens: 102, brokenBy: { entryId: "call-c", reason: "prune" } })
  await session.append([result("c"), calling("d"), result("d")])
  expect((await reused(session, o)).brokenBy).toBeUndefined()
})

reusedLaw(25)
