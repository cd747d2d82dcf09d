/** The rules of Copilot's events. Files are made by hand after the types of `@github/copilot-sdk` 1.0. */
import { createSessions, type Entry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { textOf } from "../src/base/values.ts"
import { encode } from "../src/copilot/codec.ts"
import { copilot } from "../src/copilot/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, recordsOf, testLaws, written } from "./laws.ts"
import { testWritten } from "./written-laws.ts"
import { sessionOf } from "./random-session.ts"
import { restored } from "./restored.ts"

/** Each event continues the one before it. */
function file(...events: readonly (readonly [type: string, data: object, more?: object])[]): string {
  return events
    .map(([type, data, more], i) => {
      const timestamp = new Date(Date.UTC(2026, 10, 22, 11, 0, i)).toISOString()
      return `${JSON.stringify({ type, data, id: `e${i}`, timestamp, parentId: i === 0 ? null : `e${i - 1}`, ...more })}\n`
    })
    .join("")
}
const start = ["session.start", { sessionId: "s1", version: 1, context: { cwd: "/work" }, selectedModel: "m" }] as const
const user = (content: string, more: object = {}) =>
  ["user.message", { content, transformedContent: `<t>${content}`, ...more }] as const
const answer = (content: string, more: object = {}) =>
  ["assistant.message", { messageId: "x", model: "m", content, toolRequests: [], ...more }] as const
const asks = (toolCallId: string) => ({
  toolRequests: [{ toolCallId, name: "bash", arguments: { command: "ls" }, type: "function" }],
})
const done = (toolCallId: string, more: object) => ["tool.execution_complete", { toolCallId, ...more }] as const
const shutdown = (...models: readonly (readonly [string, number, number])[]) => {
  const metrics = models.map(([model, inputTokens, outputTokens]) => [
    model,
    { usage: { inputTokens, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0 } },
  ])
  return ["session.shutdown", { shutdownType: "routine", modelMetrics: Object.fromEntries(metrics) }] as const
}

const tools = file(
  start,
  ["system.message", { role: "system", content: "You help." }],
  user("list"),
  ["assistant.turn_start", { turnId: "0" }],
  answer("", { ...asks("c1"), reasoningText: "I look.", reasoningOpaque: "sig" }),
  ["tool.execution_start", { toolCallId: "c1", toolName: "bash" }],
  done("c1", {
    success: true,
    result: { content: "a.ts", binaryResultsForLlm: [{ type: "image", data: "AAAA", mimeType: "image/png" }] },
  }),
  ["assistant.message", { content: "of the agent" }, { agentId: "other" }],
  answer("No.", asks("c2")),
  done("c2", { success: false, error: { message: "denied" } }),
  done("c9", { success: true, isUserRequested: true, result: { content: "by the user" } }),
)
const parts = file(
  start,
  user("think"),
  answer("one", { apiCallId: "a", chunkIndex: 0, chunkCount: 2, reasoningText: "first" }),
  ["assistant.intent", {}],
  answer("two", { apiCallId: "a", chunkIndex: 1, chunkCount: 2, ...asks("c1") }),
  done("c1", { success: true, result: { content: "ok" } }),
  answer("cut", { apiCallId: "b", chunkIndex: 0, chunkCount: 2 }),
)
const compacted = file(
  start,
  user("q1"),
  answer("a1"),
  ["session.compaction_start", {}],
  user("q2"),
  ["session.compaction_complete", { success: true, summaryContent: "S", preCompactionTokens: 90, messagesRemoved: 2 }],
  answer("a2"),
  ["session.compaction_complete", { success: false, error: "no" }],
)
const rewound = file(
  start,
  user("q1"),
  answer("a1"),
  user("q2"),
  answer("a2"),
  ["session.snapshot_rewind", { upToEventId: "e3", eventsRemoved: 2 }],
  user("q3"),
)

const goldens = {
  "a session with tools": { text: tools },
  "a session with responses in parts": { text: parts },
  "a session with a compaction": { text: compacted },
  "a session with a rewind": { text: rewound },
  "a session with unreadable lines": { text: `${file(start, user("q1"))}oops\n{"type":"us` },
}
/**
 * Lines of a context without thinking, which only GitHub's models get back, and with one text for each message. A summary is in the frame of
 * the program.
 */
function shown(context: readonly string[]): readonly string[] {
  const lines = context.map((line) => line.replace('{"thinking":"hm"},', "").replaceAll(/(?<=[^\\])","/g, "\\n"))
  return lines.map((line) => (line.includes("<summary>") ? "summary" : line))
}

testLaws(copilot, goldens)
testWritten(copilot, Object.values(goldens), {
  repair: "none",
  shown: (context, losses) => (losses.has("kept") || losses.has("results") ? undefined : shown(context)),
})

testFixtures(copilot)

test.each([tools, parts, compacted, rewound])("every event can be restored from the log (%#)", async (text) => {
  const { entries } = await importText(copilot, { text })
  expect(restored(entries, (entry) => [encode(entry), encode(entry)])).toEqual(recordsOf(text))
})

const contextOf = async (session: Session) =>
  (await session.context({ repair: "none" })).messages.map(({ message }) => {
    const texts = message.content.map((block) => ("text" in block ? block.text : block.type))
    return `${message.role}: ${texts.join("|")}`
  })
const messagesOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))

test("requests of tools are calls, and completed executions their results", async () => {
  const { session, entries } = await importText(copilot, { text: tools })
  expect(await contextOf(session)).toEqual([
    "user: list",
    "assistant: thinking|toolCall",
    "toolResult: a.ts|image",
    "assistant: No.|toolCall",
    "toolResult: denied",
  ])
  const results = messagesOf(entries).filter(({ role }) => role === "toolResult")
  expect(results.map(({ toolName, isError }) => [toolName, isError])).toEqual([
    ["bash", false],
    ["bash", true],
  ])
  expect(messagesOf(entries)[1]).toMatchObject({
    provider: "github-copilot",
    model: "m",
    content: [
      { type: "thinking", thinking: "I look.", signature: "sig" },
      { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } },
    ],
  })
  expect(entries.find(({ type }) => type === "session_init")).toMatchObject({ systemPrompt: "You help." })
})

test("a response in parts is one message, also one that was cut off", async () => {
  const { session } = await importText(copilot, { text: parts })
  expect(await contextOf(session)).toEqual([
    "user: think",
    "assistant: thinking|one|two|toolCall",
    "toolResult: ok",
    "assistant: cut",
  ])
})

test("a compaction keeps the messages since it began; one that failed changes nothing", async () => {
  const { session, entries } = await importText(copilot, { text: compacted })
  expect((await contextOf(session)).slice(1)).toEqual(["user: q2", "assistant: a2"])
  expect(entries.filter(({ type }) => type === "compaction")).toMatchObject([{ summary: "S", tokensBefore: 90 }])
})

test("a cleared context begins with the message that it was given", async () => {
  const text = file(
    start,
    user("q1"),
    ["session.context_cleared", { messagesCleared: 1, initialMessage: "again" }],
    answer("a"),
  )
  expect(await contextOf((await importText(copilot, { text })).session)).toEqual(["user: again", "assistant: a"])
})

test("a rewind continues before the event that it names", async () => {
  expect(await contextOf((await importText(copilot, { text: rewound })).session)).toEqual([
    "user: q1",
    "assistant: a1",
    "user: q3",
  ])
  const unknown = file(start, user("q1"), ["session.snapshot_rewind", { upToEventId: "gone", eventsRemoved: 2 }])
  expect(await contextOf((await importText(copilot, { text: unknown })).session)).toEqual(["user: q1"])
})

test("usage is what each run added for each model", async () => {
  const text = file(
    start,
    shutdown(["m", 10, 5]),
    shutdown(["m", 20, 10], ["n", 7, 1]),
    shutdown(["m", 20, 10], ["n", 7, 1]),
    shutdown(["m", 4, 2]),
  )
  const { entries } = await importText(copilot, { text })
  const usages = entries.flatMap((entry) =>
    entry.type === "usage" ? [[entry.model, entry.usage.input, entry.usage.output]] : [],
  )
  expect(usages).toEqual([
    ["m", 10, 5],
    ["m", 10, 5],
    ["n", 7, 1],
    ["m", 4, 2],
  ])
})

test("messages that a skill or the autopilot wrote are synthetic, and images of other events are blocks", async () => {
  const asset = ["session.binary_asset", { assetId: "sha256:1", data: "AAAA", mimeType: "image/png" }] as const
  const attachments = [{ type: "blob", assetId: "sha256:1", mimeType: "image/png" }]
  const text = file(
    start,
    asset,
    user("look", { attachments }),
    user("skill", { source: "skill-pdf" }),
    user("go on", { isAutopilotContinuation: true }),
  )
  const { entries } = await importText(copilot, { text })
  expect(messagesOf(entries).map(({ synthetic }) => synthetic)).toEqual([undefined, true, true])
  expect(messagesOf(entries)[0]?.content?.[1]).toEqual({ type: "image", mimeType: "image/png", data: "AAAA" })
})

test("the text of a skill that the model asked for is a synthetic message behind the result, also of an event that names it", async () => {
  // The digest of "Pears are green.\n", as Copilot CLI 1.0.102 writes it.
  const contentId = "sha256:2209c70098903657ff2c904928ff14abb0e5c76f8fd112aa2eeba4bc567e55ad"
  const wrapper = { source: "skill-pears", prefix: "<skill-context>\n", suffix: "\n</skill-context>" }
  const invoked = { name: "pears", path: "/project/SKILL.md" }
  const text = file(
    start,
    user("use it"),
    answer("", asks("c1")),
    done("c1", { success: true, result: { content: "loaded" } }),
    ["skill.invoked", { ...invoked, content: "Pears are green.\n" }],
    ["skill.context_delivered_ref", { ...wrapper, contentId }],
    answer("They are green."),
    ["skill.invoked", { ...invoked, content: "Pears are ripe.\n" }],
    ["skill.context_delivered", { source: "skill-pears", content: "Pears are ripe." }],
    ["skill.invoked_ref", { ...invoked, contentId }],
    ["skill.context_delivered_ref", { ...wrapper, contentId }],
    ["skill.context_delivered_ref", { ...wrapper, contentId: "sha256:0" }],
    user("and now?"),
  )
  const { session } = await importText(copilot, { text })
  const { messages } = await session.context()
  const rows = messages.map(({ message: { role, synthetic, content } }) => [role, synthetic, textOf(content)])
  const green = ["user", true, "<skill-context>\nPears are green.\n\n</skill-context>"]
  expect(rows).toEqual([
    ["user", undefined, "use it"],
    ["assistant", undefined, ""],
    ["toolResult", undefined, "loaded"],
    green,
    ["assistant", undefined, "They are green."],
    ["user", true, "Pears are ripe."],
    green,
    ["user", undefined, "and now?"],
  ])
  expect(recordsOf(await written(copilot, session))).toEqual(recordsOf(text))
})

test("what Copilot keeps of its requests and of their usage is shown as no message", async () => {
  const snapshot = { kind: "messages_snapshot", messages: [{ role: "user", content: "hello to you" }] }
  const text = file(
    start,
    user("hello to you"),
    ["session.usage_record", { usage: { model: "m", modelDisplayName: "the model" } }],
    ["model.messages_snapshot", snapshot],
  )
  const { session } = await importText(copilot, { text })
  const { messages } = await session.messages({ limit: 10 })
  expect(messages.map(({ message }) => message.role)).toEqual(["user"])
})

test("the model and the title of a session are entries", async () => {
  const text = file(start, ["session.model_change", { newModel: "n" }], ["session.title_changed", { title: "Files" }])
  const { session, entries } = await importText(copilot, { text })
  expect(entries.find(({ type }) => type === "model_change")).toMatchObject({ provider: "github-copilot", model: "n" })
  expect((await session.info()).title).toBe("Files")
})

test("every event of a written session has a UUID and names the one before it, also behind imported events", async () => {
  const imported = (await importText(copilot, { text: tools })).session
  const added = { type: "message", message: { role: "user", content: "more" } } as const
  await imported.append(added)
  for (const session of [
    imported,
    await sessionOf([
      { op: "call", text: "t", isError: true },
      { op: "title", text: "T" },
    ]),
  ]) {
    const events = recordsOf(await written(copilot, session)) as { id: string; parentId: string | null }[]
    expect(events.map(({ parentId }) => parentId)).toEqual([null, ...events.slice(0, -1).map(({ id }) => id)])
    expect(events.at(-1)?.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  }
})

test("an image, a failed call and the folder are in a written file; what it does not hold is named", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create({ cwd: "/work" })
  const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const
  await session.append({ type: "message", message: { role: "user", content: [image] } })
  const call = { type: "toolCall", id: "c1", name: "bash", arguments: {} } as const
  await session.append({ type: "message", message: { role: "assistant", content: [call] } })
  const failed = {
    role: "toolResult",
    toolCallId: "c1",
    isError: true,
    content: [{ type: "text", text: "no" }, image],
  } as const
  await session.append({ type: "message", message: failed })
  await session.append({ type: "message", message: { role: "system", content: "be kind" } })
  const losses: string[] = []
  const text = await written(copilot, session, { cwd: "/other", note: ({ what }) => losses.push(what) })
  const again = await importText(copilot, { text })
  expect(again.session.header.cwd).toBe("/other")
  // The last image is that of a tool result.
  expect(losses).toEqual(["images", "system"])
  const messages = again.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  expect(messages.map(({ content = [] }) => content.map(({ type }) => type))).toEqual([
    ["text", "image"],
    ["toolCall"],
    ["text", "image"],
  ])
  expect(messages.at(-1)).toMatchObject({ isError: true })
})
