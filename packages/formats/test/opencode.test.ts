/** The rules of opencode's exports. Files are made by hand after those of opencode 1.18. */
import type { Entry, Session } from "@sessions/core"
import { expect, test } from "vitest"
import { opencode } from "../src/opencode/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"

const TIME = 1_795_347_673_596
const info = {
  id: "ses_1",
  directory: "/work",
  title: "Files",
  version: "1.18.34",
  time: { created: TIME, updated: TIME },
}
let count = 0
const message = (role: string, id: string, fields: object, parts: readonly object[]) => ({
  info: { id, role, sessionID: "ses_1", time: { created: TIME + 1000 }, ...fields },
  parts: parts.map((part) => ({ id: `prt_${id}_${count++}`, messageID: id, ...part })),
})
const text = (value: string, more: object = {}) => ({ type: "text", text: value, ...more })
const user = (id: string, ...parts: readonly object[]) => message("user", id, { agent: "build" }, parts)
const assistant = (id: string, parentID: string, parts: readonly object[], fields: object = {}) =>
  message("assistant", id, { parentID, providerID: "acme", modelID: "m", finish: "stop", ...fields }, parts)
const finish = {
  type: "step-finish",
  reason: "stop",
  cost: 0.5,
  tokens: { input: 10, output: 5, reasoning: 2, cache: { read: 3, write: 1 } },
}
const tool = (callID: string, state: object) => ({
  type: "tool",
  tool: "bash",
  callID,
  state: { input: { command: "ls" }, ...state },
})
const file = (messages: readonly object[], more: object = {}) =>
  JSON.stringify({ info: { ...info, ...more }, messages }, undefined, 1)

const start = { type: "step-start" }
const image = { type: "file", mime: "image/png", url: "data:image/png;base64,AAAA" }
const tools = file([
  user("m1", text("look"), image, text("contents of a.ts", { synthetic: true }), {
    type: "file",
    mime: "text/plain",
    url: "file:///a.ts",
  }),
  assistant("m2", "m1", [
    start,
    { type: "reasoning", text: "hm", metadata: { anthropic: { signature: "sig" } } },
    tool("c1", { status: "completed", output: "a.ts", attachments: [image], time: { start: TIME, end: TIME + 5 } }),
    finish,
    start,
    text("Two."),
    tool("c2", { status: "error", error: "denied", time: { start: TIME, end: TIME + 6 } }),
    tool("c3", { status: "running", time: { start: TIME } }),
    finish,
  ]),
  assistant("m3", "m1", [start, text("Done."), finish]),
  assistant("m4", "m1", [start], { error: { name: "APIError", data: {} } }),
])
const summary = (id: string, parentID: string) => assistant(id, parentID, [start, text("S"), finish], { summary: true })
const compacted = (tail: object) =>
  file([
    user("m1", text("q1")),
    assistant("m2", "m1", [start, text("a1"), finish]),
    user("m3", text("q2")),
    user("m4", { type: "compaction", auto: true, ...tail }),
    summary("m5", "m4"),
    user("m6", text("q3")),
  ])
const reverted = file(
  [user("m1", text("q1")), assistant("m2", "m1", [start, text("a1"), finish]), user("m3", text("q2"))],
  {
    revert: { messageID: "m3" },
  },
)

testLaws(opencode, {
  "a session with tools": { text: tools },
  "a session with a compaction": { text: compacted({}) },
  "a session that was reverted": { text: reverted },
})

testFixtures(opencode)

test.each([tools, compacted({}), reverted])("every record can be restored from the log (%#)", async (text) => {
  const { entries } = await importText(opencode, { text })
  const { info: first, messages } = JSON.parse(text) as { info: object; messages: readonly object[] }
  expect(restored(entries, () => [{}])).toEqual([first, ...messages])
})

const contextOf = async (session: Session) =>
  (await session.context({ repair: "none" })).messages.map(({ message: { role, content } }) => {
    const texts = content.map((block) => ("text" in block ? block.text : block.type))
    return `${role}: ${texts.join("|")}`
  })
const messagesOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))

test("a message has one entry for each step, followed by the results of its tools", async () => {
  const { session, entries } = await importText(opencode, { text: tools })
  expect(await contextOf(session)).toEqual([
    "user: look|image|contents of a.ts",
    "assistant: thinking|toolCall",
    "toolResult: a.ts|image",
    "assistant: Two.|toolCall|toolCall",
    "toolResult: denied",
    "assistant: Done.",
  ])
  expect(messagesOf(entries)[1]).toMatchObject({
    provider: "acme",
    model: "m",
    stopReason: "stop",
    usage: { input: 10, output: 7, cacheRead: 3, cacheWrite: 1, totalTokens: 21, cost: 0.5 },
    content: [
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } },
    ],
  })
  expect(messagesOf(entries).map(({ isError }) => isError)).toEqual([
    undefined,
    undefined,
    false,
    undefined,
    true,
    undefined,
  ])
})

test("a message that only opencode wrote is synthetic, and one that failed is kept aside", async () => {
  const { entries } = await importText(opencode, { text: file([user("m1", text("go on", { synthetic: true }))]) })
  expect(messagesOf(entries)[0]?.synthetic).toBe(true)
  const failed = await importText(opencode, { text: tools })
  expect(failed.entries.filter(({ customType }) => customType === "opencode/message")).toHaveLength(1)
})

test("a compaction and its summary are a compaction in two messages, which keeps the tail that it names", async () => {
  const none = await importText(opencode, { text: compacted({}) })
  const [question, ...rest] = await contextOf(none.session)
  expect(question).toMatch(/^user: /)
  expect(rest).toEqual(["assistant: S", "user: q3"])
  const tail = await importText(opencode, { text: compacted({ tail_start_id: "m3" }) })
  expect((await contextOf(tail.session)).slice(1)).toEqual(["assistant: S", "user: q2", "user: q3"])
})

test("a result that opencode cleared is cleared in the context, and complete in the history", async () => {
  const cleared = tool("c1", { status: "completed", output: "long", time: { start: TIME, end: TIME, compacted: TIME } })
  const { session, entries } = await importText(opencode, {
    text: file([assistant("m1", "m0", [start, cleared, finish])]),
  })
  expect((await contextOf(session)).at(-1)).toBe("toolResult: [Old tool result content cleared]")
  expect(messagesOf(entries).at(-1)?.content).toEqual([{ type: "text", text: "long" }])
})

test("a reverted session ends before the message or the part that was reverted", async () => {
  expect(await contextOf((await importText(opencode, { text: reverted })).session)).toEqual([
    "user: q1",
    "assistant: a1",
  ])
  const parts = [
    { ...start, id: "p1" },
    { ...text("one"), id: "p2" },
    { ...start, id: "p3" },
    { ...text("two"), id: "p4" },
  ]
  const partly = file([user("m1", text("q1")), assistant("m2", "m1", parts)], {
    revert: { messageID: "m2", partID: "p4" },
  })
  expect(await contextOf((await importText(opencode, { text: partly })).session)).toEqual([
    "user: q1",
    "assistant: one",
  ])
})

test("the session of a tool has the session that called it as its parent", async () => {
  const { session } = await importText(opencode, { text: file([user("m1", text("go"))], { parentID: "ses_0" }) })
  expect(session.header).toMatchObject({
    kind: "subagent",
    cwd: "/work",
    parentSession: { id: expect.any(String) as string },
  })
})
