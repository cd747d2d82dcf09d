/** The rules of Qwen Code's chats. Files are made by hand after those of 0.24.4; `qwen-code-agent.test.ts` compares with the program. */
import { expect, test } from "vitest"
import { claudeCode } from "../src/claude-code/index.ts"
import { formats } from "../src/formats.ts"
import { identify } from "../src/identify.ts"
import { encode } from "../src/qwen-code/codec.ts"
import { qwenCode } from "../src/qwen-code/index.ts"
import { sessionIdOf } from "../src/base/ids.ts"
import { fixture, testFixtures } from "./fixtures.ts"
import { type Golden, importText, recordsOf, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"
import { sessionBranches } from "@sessions/core/transfer"

const [tools, rewound] = [fixture("qwen-code/tools.jsonl"), fixture("qwen-code/compacted-and-rewound.jsonl")]

type Line = Readonly<Record<string, unknown>>
const line = (uuid: string, parentUuid: string | null, type: string, more: object): Line => ({
  uuid,
  parentUuid,
  sessionId: "s1",
  timestamp: "2026-10-06T09:00:00.000Z",
  type,
  cwd: "/work",
  version: "0.24.4",
  ...more,
})
const says = (uuid: string, parent: string | null, text: string, more: object = {}): Line =>
  line(uuid, parent, "user", { message: { role: "user", parts: [{ text }] }, ...more })
const answers = (uuid: string, parent: string | null, parts: readonly object[], more: object = {}): Line =>
  line(uuid, parent, "assistant", { message: { role: "model", parts }, ...more })
const jsonl = (...lines: readonly Line[]): string => lines.map((one) => `${JSON.stringify(one)}\n`).join("")

const fragments = jsonl(
  says("u1", null, "Q"),
  answers("a1", "u1", [{ text: "one" }]),
  answers("a1", "u1", [{ text: "two" }], { usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2 } }),
  says("u2", "a1", "R"),
  says("u2", "a1", "a line that has the uuid of another"),
)

const goldens: Readonly<Record<string, Golden>> = {
  "calls and their results": { text: tools },
  "a compression, a rewind and a command": { text: rewound },
  "lines with one uuid": { text: fragments },
}
testLaws(qwenCode, goldens, (entries) => restored(entries, encode))
testFixtures(qwenCode)

async function rowsOf(text: string) {
  const imported = await importText(qwenCode, { text })
  const { messages } = await imported.session.context({ repair: "none" })
  const rows = messages.map(({ message: { role, synthetic, content } }) => {
    const texts = content.map((block) => block["text"] ?? block["thinking"] ?? block["name"] ?? block.type)
    return `${role}${synthetic === true ? "*" : ""} ${texts.join("|")}`
  })
  return { ...imported, rows }
}

test("a model gets thoughts, calls, results, and what came while the agent worked, in the order of the file", async () => {
  const { rows, entries } = await rowsOf(tools)
  expect(rows).toEqual([
    "user Which trees bear fruit?",
    "assistant Look first.|I look.|list_directory|read_file",
    "toolResult trees.md",
    "toolResult no such file",
    "user and the shrubs",
    "assistant Pears do.",
    "user* <task-notification>done</task-notification>",
    "assistant Good.",
  ])
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  expect(messages[1]).toMatchObject({
    model: "qwen3-coder",
    usage: { input: 15, output: 6, cacheRead: 5 },
    content: [{ type: "thinking", signature: "sig" }, {}, { id: "c1", arguments: { path: "." } }, { id: "c2" }],
  })
  expect(messages.slice(2, 4)).toMatchObject([
    { toolCallId: "c1", toolName: "list_directory", isError: false },
    { toolCallId: "c2", toolName: "read_file", isError: true },
  ])
})

test("a compressed history is all that a model gets of what is before, a rewind leaves a branch, a local command goes to no model", async () => {
  const { rows, session } = await rowsOf(rewound)
  expect(rows).toEqual([
    "user* <state_snapshot>They asked twice.</state_snapshot>",
    "assistant Got it.",
    "user another third question",
    "assistant another third answer",
  ])
  expect((await sessionBranches(session)).length).toBe(2)
})

test("lines with one uuid are one message, and such a line elsewhere is kept aside and reported", async () => {
  const { rows, entries, diagnostics } = await rowsOf(fragments)
  expect(rows).toEqual(["user Q", "assistant one|two", "user R|a line that has the uuid of another"])
  expect(entries.find(({ id }) => id === "a1")).toMatchObject({ message: { usage: { input: 4, output: 2 } } })
  expect(diagnostics).toEqual([])
  const again = await rowsOf(fragments + jsonl(answers("a1", "u2", [{ text: "three" }])))
  expect(again.rows).toHaveLength(3)
  expect(again.diagnostics.map(({ code }) => code)).toEqual(["duplicate_id"])
})

test("words that the agent keeps and does not send are shown, and go to no model", async () => {
  const spoken = line("r1", "u1", "user", {
    subtype: "realtime_message",
    message: { role: "user", parts: [{ text: "said by voice" }] },
  })
  const { rows, session } = await rowsOf(jsonl(says("u1", null, "Q"), spoken, says("u2", "r1", "R")))
  expect(rows).toEqual(["user Q", "user R"])
  const { messages } = await session.messages({ limit: 10 })
  expect(messages.map(({ message }) => (message as { readonly output?: string }).output)).toContain("said by voice")
})

test("the file of a subagent is a session of its own, of the session that started it", async () => {
  const more = { isSidechain: true, agentId: "explore-1" }
  const { session, rows } = await rowsOf(
    jsonl(says("u1", null, "look", more), answers("a1", "u1", [{ text: "ok" }], more)),
  )
  expect(rows).toEqual(["user look", "assistant ok"])
  expect(session.header).toMatchObject({
    kind: "subagent",
    origin: { id: "s1/explore-1" },
    parentSession: { id: await sessionIdOf("qwen-code", "s1") },
  })
})

test("a copy of a session names the session that it was made of", async () => {
  const forkedFrom = { sessionId: "s0", messageUuid: "u1" }
  const { session } = await rowsOf(jsonl(says("u1", null, "Q", { forkedFrom })))
  expect(session.header.parentSession).toEqual({ id: await sessionIdOf("qwen-code", "s0") })
})

test("a session without a message is of Qwen Code, and not of Claude Code", () => {
  const text = jsonl(line("x1", null, "system", { subtype: "session_source", systemPayload: { sourceType: "cli" } }))
  expect(identify(text, formats).format?.format).toBe("qwen-code")
  expect(claudeCode.identify(text)).toBe(false)
})

test("a title by the agent is automatic, and one that it repeats is none", async () => {
  const named = (uuid: string, parent: string, customTitle: string, titleSource?: string): Line =>
    line(uuid, parent, "system", { subtype: "custom_title", systemPayload: { customTitle, titleSource } })
  const text = jsonl(
    says("u1", null, "Q"),
    named("t1", "u1", "One", "auto"),
    named("t2", "t1", "One", "auto"),
    named("t3", "t2", "Two"),
    says("u2", "t3", "R"),
  )
  const { session, entries, rows } = await rowsOf(text)
  expect(rows).toEqual(["user Q", "user R"])
  expect(entries.filter(({ type }) => type === "title_change")).toHaveLength(2)
  expect(await session.info()).toMatchObject({ title: "Two", titleSource: "user" })
  expect(recordsOf(text)).toEqual(restored(entries, encode))
})
