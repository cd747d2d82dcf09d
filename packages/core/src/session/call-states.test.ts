/** The states of tool calls in stored sessions: what contexts say of them, across compactions, forks, copies and merges, and in small windows. */
import { automaticCompaction, compact } from "@sessions/core/compaction"
import { copySession, forkSession, mergeSession, verifySession } from "../transfer/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { assistant, createWriter, note, user } from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "./repository.ts"
import type { Session } from "./types.ts"

const POLICY = { type: "tool_policy", never: ["charge"], safe: ["look"] } as const

function calls(id: string, ...names: readonly string[]): NewEntry {
  const content = names.map((name, n) => ({ type: "toolCall" as const, id: `${id}-${n}`, name, arguments: { n } }))
  return { type: "message", id, message: { role: "assistant", content } }
}

function start(targetId: string, call: number, run = "r"): NewEntry {
  const id = `${targetId}.${call}.1`
  const fields = {
    targetId,
    callId: `${targetId}-${call}`,
    call,
    toolName: "charge",
    attempt: 1,
    key: `key of ${call}`,
  }
  return { type: "tool_start", id, ...fields, run }
}

const result = (toolCallId: string): NewEntry => ({
  type: "message",
  message: { role: "toolResult", toolCallId, content: "done" },
})

const summarize = async () => ({ text: "## Goal\nA summary." })

async function told(session: Session): Promise<readonly string[]> {
  const { messages } = await session.context()
  return messages.flatMap(({ kind, message }) =>
    kind === "repair" ? message.content.map((block) => ("text" in block ? String(block.text) : "")) : [],
  )
}

async function states(session: Session): Promise<readonly string[]> {
  return ((await session.callStates())?.calls ?? []).map(({ state }) => state)
}

const UNKNOWN = (call: number): string =>
  `This tool call was started, and its outcome is unknown. Check whether it took effect before you call it again. Its key is key of ${call}.`
const WAITING = "This tool call did not start. It may be called again."

test("a context says of each call without a result what is known of it", async () => {
  const session = await createWriter().sessions.create()
  await session.append([user("q"), POLICY])
  await session.append(calls("a", "charge", "charge", "look", "other"))
  await session.append(start("a", 0))
  expect(await told(session)).toEqual([
    UNKNOWN(0),
    WAITING,
    "No result was recorded for this tool call. It may be called again.",
    "No result was recorded for this tool call.",
  ])
  expect(await states(session)).toEqual(["unknown", "waiting", "repeatable", "unrecorded"])
})

test("states and texts are the same however little of the log was read", async () => {
  const location = createMemoryLocation()
  const made = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  await made.append([user("q"), POLICY])
  for (let n = 0; n < 20; n++) await made.append([calls(`s${n}`, "look"), result(`s${n}-0`)])
  await made.append(calls("a", "charge", "charge"))
  await made.append([start("a", 1), note("-".repeat(500))])
  for (const read of [1, 300, 65_536]) {
    const readWindow = { first: read, largest: read }
    const session = await createSessions({ storage: createMemoryStorage({ location }), readWindow }).open("s")
    expect(await states(session)).toEqual(["waiting", "unknown"])
    expect(await told(session)).toEqual([WAITING, UNKNOWN(1)])
  }
})

test("arguments have their blobs", async () => {
  const session = await createWriter(undefined, { blobs: { textUnits: 100 } }).sessions.create()
  const long = "x".repeat(1_000)
  const block = { type: "toolCall" as const, id: "c", name: "charge", arguments: { long } }
  await session.append([user("q"), POLICY])
  await session.append({ type: "message", message: { role: "assistant", content: [block, block] } })
  expect((await session.callStates())?.calls.map((call) => call.arguments)).toEqual([{ long }, { long }])
})

test("the states of calls behind the cut of a compaction stay known, and those of the turn that goes on", async () => {
  const session = await createWriter(undefined, {
    compaction: automaticCompaction({ enabled: false, summarize }),
  }).sessions.create()
  await session.append([user("q ".repeat(500)), POLICY])
  for (let n = 0; n < 6; n++)
    await session.append([calls(`s${n}`, "look"), result(`s${n}-0`), assistant("w ".repeat(300))])
  await session.append(calls("a", "charge", "charge"))
  await session.append(start("a", 0))
  await compact(session, { keepRecentTokens: 400 })
  expect((await session.context()).compaction).toBeDefined()
  expect(await states(session)).toEqual(["unknown", "waiting"])
  expect(await told(session)).toEqual([UNKNOWN(0), WAITING])
  await session.append([result("a-0"), result("a-1"), calls("b", "charge")])
  expect(await states(session)).toEqual(["waiting"])
})

test("a fork has the starts of its calls, also those of other branches, and never calls a started call waiting", async () => {
  const { sessions } = createWriter()
  const session = await sessions.create({ id: "s" })
  await session.append([user("q", "q"), POLICY, calls("a", "charge", "charge")])
  await session.append([start("a", 0), result("a-0"), user("more", "m")])
  for (const at of ["a", "m"]) {
    const fork = await forkSession(sessions, "s", { at })
    await fork.branch("a")
    expect((await fork.callStates())?.calls).toMatchObject([
      { state: "unknown", start: "a.0.1", key: "key of 0" },
      { state: "waiting" },
    ])
    const { damaged, diagnostics } = await verifySession(sessions, fork.id)
    // The result in these tests is of no run.
    expect([damaged, ...diagnostics.map(({ code }) => code)]).toEqual([
      false,
      ...(at === "m" ? ["foreign_result"] : []),
    ])
  }
  const before = await forkSession(sessions, "s", { at: "q" })
  expect(await before.callStates()).toBeUndefined()
  for await (const entry of before.entries()) expect(entry.type).toBe("message")
})

test("a start that changes what an earlier context said is named as what broke its prefix", async () => {
  const session = await createWriter().sessions.create()
  await session.append([user("q"), POLICY, calls("a", "charge")])
  await session.append([user("next", "n"), assistant("Not yet.", "e")])
  await session.append(user("And now?", "u"))
  expect((await session.context()).reused.brokenBy).toBeUndefined()
  await session.branch("a")
  await session.append(start("a", 0))
  await session.branch("u")
  expect(await told(session)).toEqual([UNKNOWN(0)])
  expect((await session.context()).reused.brokenBy).toEqual({ entryId: "a.0.1", reason: "start" })
})

test("a merge names the calls that both sides have started", async () => {
  const [here, there] = [createWriter(), createWriter()]
  const one = await here.sessions.create({ id: "s" })
  await one.append([user("q"), POLICY, calls("a", "charge", "charge")])
  await copySession(here.sessions, "s", there.storage)
  const other = await there.sessions.open("s")
  await one.append([start("a", 0, "here")])
  await other.append([start("a", 0, "there"), start("a", 1, "there")])
  const merged = await mergeSession(here.sessions, "s", there.storage)
  expect(merged.differing).toEqual(["a.0.1"])
  expect(merged.diagnostics).toMatchObject([{ code: "started_twice", entryId: "a.0.1" }])
  for (const { storage } of [here, there])
    expect(await states(await createSessions({ storage }).open("s"))).toEqual(["unknown", "unknown"])
})
