/** The rules of opencode's exports. Files are made by hand after those of opencode 1.18. */
import type { Entry, Session } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { opencode } from "../src/opencode/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws, written } from "./laws.ts"
import { testWritten } from "./written-laws.ts"
import { contextOf as shownContext, ops, sessionOf } from "./random-session.ts"
import { runs } from "../../../.config/runs.ts"

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
const aborted = { summary: true, finish: undefined, error: { name: "MessageAbortedError", data: {} } }
const halfSummary = (fields: object) => [
  user("m1", text("q1")),
  user("m2", { type: "compaction", auto: false }),
  assistant("m3", "m2", [start, text("Half")], fields),
]

const reverted = file(
  [user("m1", text("q1")), assistant("m2", "m1", [start, text("a1"), finish]), user("m3", text("q2"))],
  {
    revert: { messageID: "m3" },
  },
)

const goldens = {
  "a document with other fields": {
    text: JSON.stringify({ info, messages: [user("m1", text("q")), null], more: { a: 1 } }),
  },
  "a session with tools": { text: tools },
  "a session with a compaction": { text: compacted({}) },
  "a session with a compaction that keeps a question": { text: compacted({ tail_start_id: "m3" }) },
  "a session with a compaction that was stopped": { text: file([...halfSummary(aborted), user("m4", text("q2"))]) },
  "a session with a compaction that is not done": { text: file(halfSummary({ summary: true, finish: undefined })) },
  "a session that was reverted": { text: reverted },
}
testLaws(opencode, goldens)
// A compaction keeps whole messages of a document, so also the steps before the first kept one.
testWritten(opencode, Object.values(goldens), { shown: asOpencode, goesOn: ({ op }) => op !== "compact" })

testFixtures(opencode)

const contextOf = async (session: Session) =>
  (await session.context({ repair: "none" })).messages.map(({ message: { role, content } }) => {
    const texts = content.map((block) => ("text" in block ? block.text : block.type))
    return `${role}: ${texts.join("|")}`
  })
const messagesOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))

test("the document of a session without messages is identified", () => {
  expect(opencode.identify(file([], { projectID: "global" }))).toBe(true)
})

test("a document without an id is exported as it was", async () => {
  const document = file([user("m1", text("q"))], { id: undefined })
  const { session } = await importText(opencode, { text: document })
  expect(JSON.parse(await written(opencode, session))).toEqual(JSON.parse(document))
})

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

test("a command that a subagent carries out is in the context as opencode sends it", async () => {
  const subtask = { type: "subtask", agent: "general", description: "count", command: "count", prompt: "Count them." }
  const task = {
    ...tool("c1", { input: { prompt: "Count them." }, status: "completed", output: "Two.", time: { start: TIME } }),
    tool: "task",
  }
  const document = file([user("m1", subtask), assistant("m2", "m1", [task])])
  const { session } = await importText(opencode, { text: document })
  expect(await contextOf(session)).toEqual([
    "user: The following tool was executed by the user",
    "assistant: toolCall",
    "toolResult: Two.",
  ])
  expect(JSON.parse(await written(opencode, session))).toEqual(JSON.parse(document))
})

test("a compaction and its summary are a compaction in two messages, which keeps the tail that it names", async () => {
  const none = await importText(opencode, { text: compacted({}) })
  const [question, ...rest] = await contextOf(none.session)
  expect(question).toMatch(/^user: /)
  expect(rest).toEqual(["assistant: S", "user: q3"])
  const tail = await importText(opencode, { text: compacted({ tail_start_id: "m3" }) })
  expect((await contextOf(tail.session)).slice(1)).toEqual(["assistant: S", "user: q2", "user: q3"])
})

test("a compaction keeps what follows a message without content, if its tail begins with that", async () => {
  const document = file([
    user("m1", text("q1")),
    assistant("m2", "m1", [start], { error: { name: "MessageAbortedError", data: {} } }),
    user("m3", text("q2")),
    user("m4", { type: "compaction", auto: false, tail_start_id: "m2" }),
    summary("m5", "m4"),
  ])
  const { session } = await importText(opencode, { text: document })
  expect((await contextOf(session)).slice(1)).toEqual(["assistant: S", "user: q2"])
})

test("a compaction that was stopped is a question and what was said of the summary", async () => {
  const stopped = ["user: q1", "user: What did we do so far?", "assistant: Half"]
  const { session, entries } = await importText(opencode, { text: file(halfSummary(aborted)) })
  expect(await contextOf(session)).toEqual(stopped)
  expect(messagesOf(entries).map(({ synthetic }) => synthetic)).toEqual([undefined, true, undefined])
  // A program that was killed in it has written no error.
  const killed = halfSummary({ summary: true, finish: undefined })
  const { sessions } = await importText(opencode, { text: file(killed) })
  const grown = await importText(opencode, { text: file([...killed, user("m4", text("q2"))]) }, sessions)
  expect(await contextOf(grown.session)).toEqual([...stopped, "user: q2"])
})

test("a compaction whose summary is still being written is in the log once the summary is whole", async () => {
  const { sessions, session } = await importText(opencode, {
    text: file(halfSummary({ summary: true, finish: undefined })),
  })
  expect(await contextOf(session)).toEqual(["user: q1"])
  const whole = file([...halfSummary({ summary: true }), user("m4", text("q2"))])
  const grown = await importText(opencode, { text: whole }, sessions)
  expect((await contextOf(grown.session)).slice(1)).toEqual(["assistant: Half", "user: q2"])
})

test("a request for a summary is in the file only with the summary, or if the context has it", async () => {
  const went = async (document: string, at: string | undefined, role: "user" | "assistant") => {
    const { session } = await importText(opencode, { text: document })
    if (at !== undefined) await session.branch(at)
    await session.append({ type: "message", message: { role, content: [{ type: "text", text: "t" }] } })
    const losses: Loss[] = []
    const out = await written(opencode, session, { note: (loss) => losses.push(loss) })
    const again = await importText(opencode, { text: out })
    expect(await contextOf(again.session)).toEqual(await contextOf(session))
    const { messages } = JSON.parse(out) as { readonly messages: readonly ReturnType<typeof user>[] }
    const ids = new Set(messages.map((each) => each.info.id))
    const parents = messages.map((each) => (each.info as { readonly parentID?: string }).parentID)
    expect(parents.filter((id) => id !== undefined && !ids.has(id))).toEqual([])
    return { out, losses: losses.filter(({ what }) => what === "compactions") }
  }
  const branched = await went(compacted({}), "m3", "user")
  expect(branched).toEqual({ out: expect.not.stringContaining("compaction"), losses: [] })
  for (const role of ["user", "assistant"] as const) {
    const open = await went(file(halfSummary({ summary: true, finish: undefined })), undefined, role)
    expect(open.out).not.toContain("Half")
    expect(open.out).not.toContain("compaction")
    expect(open.losses).toEqual([expect.objectContaining({ count: 1 })])
    const stopped = file([...halfSummary(aborted), user("m4", text("q2"))])
    expect((await went(stopped, "m2", role)).losses).toEqual([])
  }
})

test("a compaction whose question was edited is written anew, and keeps it", async () => {
  const { session } = await importText(opencode, { text: compacted({ tail_start_id: "m3" }) })
  await session.edit("m3", { content: [{ type: "text", text: "edited" }] })
  const again = await importText(opencode, { text: await written(opencode, session) })
  expect(await contextOf(again.session)).toEqual(await contextOf(session))
  expect(await contextOf(again.session)).toContain("user: edited")
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

interface Document {
  readonly info: Record<string, unknown>
  readonly messages: readonly {
    readonly info: Record<string, unknown>
    readonly parts: readonly Record<string, unknown>[]
  }[]
}

const documentOf = async (session: Session, o: Parameters<typeof written>[2] = {}) =>
  JSON.parse(await written(opencode, session, o)) as Document

/** A compaction is two messages in opencode. */
function asOpencode(context: readonly string[]): readonly string[] {
  const [first = "", second] = context
  if (/^user .*was compacted/s.test(first)) return ["compaction", ...context.slice(1)]
  const isPair = first.includes("has been summarized") && second === 'assistant ["S"]'
  return isPair ? ["compaction", ...context.slice(2)] : context
}

test("a compaction that keeps from a hidden message keeps what follows an earlier compaction", async () => {
  const session = await sessionOf([
    { op: "say", role: "user", text: "t" },
    { op: "compact", at: 0 },
    { op: "summary" },
    { op: "hide", at: 0 },
    { op: "compact", at: 0 },
  ])
  const again = await importText(opencode, { text: await written(opencode, session) })
  expect(asOpencode(await shownContext(again.session, {}))).toEqual(asOpencode(await shownContext(session, {})))
})

test("a compaction that begins with a result keeps the message of the call", async () => {
  const session = await sessionOf([{ op: "call", text: "tls", isError: false }])
  const { leafId } = session
  const files = { readFiles: [], modifiedFiles: [] }
  await session.append({ type: "compaction", summary: "S", firstKeptEntryId: leafId ?? "", tokensBefore: 1, ...files })
  const again = await importText(opencode, { text: await written(opencode, session) })
  expect((await contextOf(again.session)).slice(2)).toEqual(["assistant: thinking|toolCall", "toolResult: tls"])
})

test("ids ascend in the order of messages and parts, and times never go back", async () => {
  await fc.assert(
    fc.asyncProperty(ops, async (list) => {
      const { messages } = await documentOf(await sessionOf(list))
      const ids = messages.flatMap(({ info: { id }, parts }) => [id, ...parts.map((part) => part["id"])])
      for (const prefix of ["msg_", "prt_"]) {
        const own = ids.map(String).filter((id) => id.startsWith(prefix))
        expect(own).toEqual([...new Set(own)].sort())
      }
      const times = messages.map((one) => (one.info["time"] as { created: number }).created)
      expect(times).toEqual(times.toSorted((a, b) => a - b))
    }),
    { numRuns: runs(50) },
  )
})

test("appended entries follow the records of the document, in messages of their own", async () => {
  const { session } = await importText(opencode, { text: tools })
  await session.append({ type: "message", message: { role: "user", content: "more" } })
  const before = JSON.parse(tools) as Document
  const { info: head, messages } = await documentOf(session)
  expect(head).toEqual(before.info)
  expect(messages.slice(0, -1)).toEqual(before.messages)
  expect(messages.at(-1)).toMatchObject({
    info: { role: "user", sessionID: "ses_1", model: { providerID: "acme", modelID: "m" } },
    parts: [{ type: "text", text: "more" }],
  })
})

test("a session that goes on after a revert is written without what was reverted", async () => {
  const { session } = await importText(opencode, { text: reverted })
  expect((await documentOf(session)).info["revert"]).toEqual({ messageID: "m3" })
  await session.append({ type: "message", message: { role: "user", content: "other" } })
  const { info: head, messages } = await documentOf(session)
  expect(head).not.toHaveProperty("revert")
  expect(messages.map(({ parts }) => parts.flatMap(({ text: one }) => one ?? []))).toEqual([["q1"], ["a1"], ["other"]])
})

test("an edited message of a document is written with its new content, and a deleted one is not in the file", async () => {
  const { session, entries } = await importText(opencode, { text: tools })
  const [asked] = entries.filter(({ type }) => type === "message")
  const answer = entries.findLast(({ type }) => type === "message")
  await session.edit(asked?.id ?? "", { content: [{ type: "text", text: "changed" }] })
  await session.tombstone(answer?.id ?? "")
  const text = await written(opencode, session)
  expect(text).toContain("changed")
  expect(text).not.toContain("contents of a.ts")
  expect(text).not.toContain("Done.")
  expect(text).toContain("denied")
})

test("a copy under another id has ids of its own in every message", async () => {
  const { session } = await importText(opencode, { text: fileOf("msg_2030f734e001VP2Z7IrXaorP1h") })
  const { info: head, messages } = await documentOf(session, { id: "ses_2", cwd: "/other" })
  expect(head).toMatchObject({ id: "ses_2", directory: "/other" })
  const { id } = messages[0]?.info ?? {}
  expect(id).toMatch(/^msg_2030f734e001[0-9a-f]{14}$/)
  expect(messages[0]?.info).toMatchObject({ sessionID: "ses_2" })
  expect(messages[0]?.parts).toMatchObject([{ messageID: id, sessionID: "ses_2" }])
})
const fileOf = (id: string) => file([user(id, { ...text("hi"), sessionID: "ses_1" })])

test("what opencode does not have is named as a loss", async () => {
  const { session } = await importText(opencode, { text: tools })
  const signed = { type: "thinking", thinking: "hm", signature: "s" } as const
  await session.append([
    { type: "message", message: { role: "system", content: "rules" } },
    { type: "message", message: { role: "toolResult", toolCallId: "none", isError: false, content: "lost" } },
    {
      type: "message",
      message: { role: "assistant", provider: "openai", model: "gpt", content: [signed, { type: "acme:x" }] },
    },
    {
      type: "message",
      message: { role: "user", content: [{ type: "file", path: "/a.pdf", mimeType: "application/pdf" }] },
    },
    { type: "mode_change", mode: "plan" },
    { type: "metadata", key: "k", value: 1 },
  ])
  const losses: Loss[] = []
  expect(await written(opencode, session, { note: (loss) => losses.push(loss) })).toContain("[File: /a.pdf]")
  const kinds = ["annotations", "blocks", "files", "results", "settings", "signatures", "system"]
  expect(losses.map(({ what }) => what).sort()).toEqual(kinds)
  await session.append({ type: "reset_boundary" })
  await written(opencode, session, { note: (loss) => losses.push(loss) })
  expect(losses.at(-1)?.what === "history" || losses.some(({ what }) => what === "history")).toBe(true)
})
