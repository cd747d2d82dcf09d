/** The rules of Gemini CLI's chats. Files are made by hand; with `GEMINI_CORE`, the folder of `@google/gemini-cli-core`, its loader judges. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { createSessions, type Entry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { gemini } from "../src/gemini/index.ts"
import { fixturesOf, testFixtures } from "./fixtures.ts"
import { importText, recordsOf, testLaws, written } from "./laws.ts"
import { testWritten } from "./written-laws.ts"
import { ops, sessionOf } from "./random-session.ts"
import { runs } from "../../../.config/runs.ts"

const lines = (...records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const header = {
  sessionId: "s1",
  projectHash: "p",
  startTime: "2026-11-22T11:00:00.000Z",
  lastUpdated: "x",
  kind: "main",
}
const time = (n: number) => ({ timestamp: new Date(Date.UTC(2026, 10, 22, 11, 1, n)).toISOString() })
const user = (id: string, text: string) => ({ id, ...time(1), type: "user", content: [{ text }] })
const model = (id: string, content: unknown, more: object = {}) => ({
  id,
  ...time(2),
  type: "gemini",
  content,
  thoughts: [],
  tokens: { input: 10, output: 5, cached: 4, thoughts: 3, tool: 0, total: 18 },
  model: "gemini-3-pro",
  ...more,
})
const response = (id: string, output: string) => ({ functionResponse: { id, name: "ls", response: { output } } })
const call = (id: string, result: unknown, status = "success") => ({
  id,
  name: "ls",
  args: { path: "." },
  result,
  status,
  ...time(3),
})

const tools = lines(
  header,
  user("u0", "<session_context>\nfiles"),
  user("u1", "list"),
  model("g1", ""),
  { $set: { lastUpdated: "y" } },
  model("g1", "", { toolCalls: [call("c1", [response("c1", "a.ts")]), call("c2", [response("c2", "no")], "error")] }),
  { id: "u2", ...time(4), type: "user", content: [response("c1", "a.ts"), response("c2", "no")] },
  model("g2", "Done.", { thoughts: [{ subject: "Files", description: "There is one.", ...time(4) }] }),
  { id: "i1", ...time(5), type: "info", content: "Saved." },
  { $set: { summary: "List files" } },
)
const parts = lines(
  header,
  {
    ...user("u1", "look"),
    content: ["look", { inlineData: { mimeType: "image/png", data: "AAAA" } }, { fileData: { fileUri: "x" } }],
  },
  model(
    "g1",
    [{ text: "hm", thought: true }, { text: "ok" }, { functionCall: { name: "ls", args: {} }, thoughtSignature: "s" }],
    {
      toolCalls: [call("c1", "text")],
    },
  ),
  { id: "u2", ...time(4), type: "user", content: [response("c9", "late"), { text: "and this" }] },
)
const rewound = lines(
  header,
  user("u1", "q1"),
  model("g1", "a1"),
  user("u2", "q2"),
  model("g2", "a2"),
  { $rewindTo: "u2" },
  user("u2", "q2 again"),
  model("g3", "a3"),
)
const replaced = lines(
  header,
  user("u1", "q1"),
  model("g1", "a1"),
  user("u2", "q2"),
  { $set: { messages: [user("u1", "q1"), model("g1", "short"), user("u3", "q3")] } },
  model("g3", "a3"),
)
const compressed = lines(
  header,
  user("u1", "q1"),
  model("g1", "a1"),
  { $set: { messages: [user("s", "SUMMARY")] } },
  user("u2", "q2"),
)
const older = JSON.stringify(
  { ...header, messages: [user("u1", "q1"), { ...model("g1", "a1"), thoughts: undefined }] },
  undefined,
  2,
)

const goldens = {
  "a chat with tools": { text: tools },
  "a chat with parts": { text: parts },
  "a chat with a rewind": { text: rewound },
  "a chat with other messages": { text: replaced },
  "a compressed chat": { text: compressed },
  "an older chat in one document": { text: older },
  "a chat with unreadable lines": { text: `${lines(header, user("u1", "q1"))}oops\n{"id":"u2` },
}
/** Thinking of other providers is not written, and results of parallel calls are in the order of the calls. */
const asGemini = (lines: readonly string[]) => {
  const shown = lines.map((line) => line.replaceAll('{"thinking":"hm"},', ""))
  const isResult = (line = "") => line.startsWith("toolResult")
  const runs: string[][] = []
  for (const [i, line] of shown.entries()) {
    if (isResult(line) && isResult(shown[i - 1])) runs.at(-1)?.push(line)
    else runs.push([line])
  }
  return runs.flatMap((run) => run.sort())
}

testLaws(gemini, goldens)
testWritten(gemini, Object.values(goldens), { shown: asGemini })

testFixtures(gemini)

const contextOf = async (session: Session) =>
  (await session.context({ repair: "none" })).messages.map(({ message }) => {
    const texts = message.content.map((block) => ("text" in block ? block.text : block.type))
    return `${message.role}: ${texts.join("|")}`
  })
const messagesOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))

test("a record with an earlier id is the last version of that message, in its first place", async () => {
  const { session, entries } = await importText(gemini, { text: tools })
  expect(await contextOf(session)).toEqual([
    "user: <session_context>\nfiles",
    "user: list",
    "assistant: toolCall|toolCall",
    "toolResult: a.ts",
    "toolResult: no",
    "assistant: thinking|Done.",
  ])
  expect(messagesOf(entries)[2]).toMatchObject({
    provider: "google",
    model: "gemini-3-pro",
    usage: { input: 6, output: 8, cacheRead: 4, totalTokens: 18 },
  })
  expect(messagesOf(entries).map(({ synthetic, isError }) => synthetic ?? isError)).toEqual([
    true,
    undefined,
    undefined,
    false,
    true,
    undefined,
  ])
  expect((await session.info()).title).toBe("List files")
})

test("responses that are in no call's record are results; those that are there stay aside", async () => {
  const { session } = await importText(gemini, { text: parts })
  expect(await contextOf(session)).toEqual([
    "user: look|image|gemini:part",
    "assistant: thinking|ok|toolCall",
    "toolResult: text",
    "toolResult: late",
    "user: and this",
  ])
  const { entries } = await importText(gemini, { text: tools })
  expect(entries.filter(({ customType }) => customType === "gemini/user")).toHaveLength(1)
})

test("a result whose call is in a new list of messages is a result again, once", async () => {
  const turn = lines(
    header,
    user("u1", "list"),
    model("g1", "", { toolCalls: [call("c1", [response("c1", "a.ts")])] }),
    { id: "u2", ...time(4), type: "user", content: [response("c1", "a.ts")] },
    model("g2", "One."),
  )
  // As Gemini CLI writes it when it resumes the chat: the call has no result of its own any more.
  const { id, name, args } = call("c1", [])
  const list = [
    { ...user("u1", "list"), ...time(9) },
    { ...model("g1", [{ functionCall: { id, name, args } }]), ...time(9) },
    { id: "g1_response", ...time(9), type: "user", content: [response("c1", "a.ts")] },
    { id: "u2", ...time(9), type: "user", content: [response("c1", "a.ts")] },
    { ...model("g2", [{ text: "One." }]), ...time(9) },
  ]
  const { session } = await importText(gemini, { text: turn + lines({ $set: { messages: list } }, user("u3", "and?")) })
  expect(await contextOf(session)).toEqual([
    "user: list",
    "assistant: toolCall",
    "toolResult: a.ts",
    "assistant: One.",
    "user: and?",
  ])
})

const picture = { inlineData: { mimeType: "image/png", data: "AAAA" } }
const pictures = [response("c1", "One picture."), picture, response("c2", "text")]

test("pictures behind a response are in its result, and no message of the user", async () => {
  const asked = lines(header, user("u1", "look"))
  const results = { id: "u2", ...time(4), type: "user", content: pictures }
  const inRecord = [call("c1", pictures.slice(0, 2)), call("c2", pictures.slice(2))]
  // As Gemini CLI writes the calls of a turn when it replaces its list of messages.
  const inEach = [call("c1", pictures), call("c2", pictures)]
  const alone = [{ functionCall: inRecord[0] }, { functionCall: inRecord[1] }]
  for (const record of [
    model("g1", "", { toolCalls: inRecord }),
    model("g1", "", { toolCalls: inEach }),
    model("g1", alone),
  ]) {
    const { session } = await importText(gemini, { text: asked + lines(record, results) })
    expect(await contextOf(session)).toEqual([
      "user: look",
      "assistant: toolCall|toolCall",
      "toolResult: One picture.|image",
      "toolResult: text",
    ])
  }
})

test("pictures of a result are written behind the response", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  const block = { type: "toolCall", id: "c1", name: "look", arguments: {} } as const
  const content = [
    { type: "text", text: "One picture." },
    { type: "image", mimeType: "image/png", data: "AAAA" },
  ] as const
  await session.append([
    { type: "message", message: { role: "user", content: [{ type: "text", text: "look" }] } },
    { type: "message", message: { role: "assistant", content: [block] } },
    { type: "message", message: { role: "toolResult", toolCallId: "c1", isError: false, content } },
  ])
  const records = recordsOf(await written(gemini, session)) as readonly { readonly toolCalls?: unknown }[]
  const functionResponse = { id: "c1", name: "look", response: { output: "One picture." } }
  expect(records.at(-1)?.toolCalls).toMatchObject([{ result: [{ functionResponse }, picture] }])
})

test("a rewind removes the record that it names and all after it; for an unknown id all", async () => {
  const { session } = await importText(gemini, { text: rewound })
  expect(await contextOf(session)).toEqual(["user: q1", "assistant: a1", "user: q2 again", "assistant: a3"])
  const all = lines(header, user("u1", "q1"), { $rewindTo: "gone" }, user("u2", "q2"))
  expect(await contextOf((await importText(gemini, { text: all })).session)).toEqual(["user: q2"])
})

test("a new list of messages continues where it differs; with none in common the context starts anew", async () => {
  expect(await contextOf((await importText(gemini, { text: replaced })).session)).toEqual([
    "user: q1",
    "assistant: short",
    "user: q3",
    "assistant: a3",
  ])
  const { session, entries } = await importText(gemini, { text: compressed })
  expect(await contextOf(session)).toEqual(["user: SUMMARY", "user: q2"])
  expect(entries.filter(({ type }) => type === "reset_boundary")).toHaveLength(1)
})

test("the file of a subagent is a session of that kind", async () => {
  const { session } = await importText(gemini, { text: lines({ ...header, kind: "subagent" }, user("u1", "go")) })
  expect(session.header.kind).toBe("subagent")
})

test("appended messages follow the lines of the chat, with the result of a call in its record", async () => {
  const { session } = await importText(gemini, { text: tools })
  const call = { type: "toolCall", id: "c9", name: "ls", arguments: {} } as const
  await session.append([
    { type: "message", message: { role: "user", content: "more" } },
    { type: "message", message: { role: "assistant", provider: "google", model: "g", content: [call] } },
    {
      type: "message",
      message: { role: "toolResult", toolCallId: "c9", toolName: "ls", isError: true, content: "no" },
    },
  ])
  const before = recordsOf(tools)
  const after = recordsOf(await written(gemini, session))
  expect(after.slice(0, before.length)).toEqual(before)
  const response = { functionResponse: { id: "c9", name: "ls", response: { error: "no" } } }
  expect(after.slice(before.length)).toMatchObject([
    { type: "user", content: [{ text: "more" }] },
    { type: "gemini", toolCalls: [{ id: "c9", status: "error", result: [response] }] },
  ])
})

test("an edited chat is written as its context, under its id and for another folder", async () => {
  const { session, entries } = await importText(gemini, { text: rewound })
  const first = entries.find(({ type }) => type === "message")
  await session.edit(first?.id ?? "", { content: [{ type: "text", text: "changed" }] })
  const text = await written(gemini, session, { cwd: "/work" })
  expect(text).not.toMatch(/q1|"q2"/)
  expect(recordsOf(text)[0]).toMatchObject({
    sessionId: "s1",
    projectHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  })
  const again = await importText(gemini, { text })
  expect(await contextOf(again.session)).toEqual(["user: changed", "assistant: a1", "user: q2 again", "assistant: a3"])
})

test("a chat that was resumed has its new id and folder wherever its lines say them", async () => {
  const header = { sessionId: "s1", projectHash: "h1", startTime: "2026-09-01T10:00:00.000Z", kind: "main" }
  const said = (id: string) => ({ id, timestamp: header.startTime, type: "user", content: [{ text: id }] })
  const lines = [
    header,
    said("q1"),
    { ...header },
    { $set: { sessionId: "s1", lastUpdated: header.startTime } },
    said("q2"),
  ]
  const { session } = await importText(gemini, { text: lines.map((line) => `${JSON.stringify(line)}\n`).join("") })
  const text = await written(gemini, session, { id: "s2", cwd: "/work" })
  expect(text).not.toMatch(/"s1"|"h1"/)
  expect(recordsOf(text)[3]).toEqual({ $set: { sessionId: "s2", lastUpdated: header.startTime } })
})

test("what Gemini CLI does not have is named as a loss, and a user's title is the summary", async () => {
  const session = await sessionOf([{ op: "call", text: "x", isError: false }, { op: "label", at: 0 }, { op: "model" }])
  await session.append([
    { type: "message", message: { role: "system", content: "rules" } },
    { type: "message", message: { role: "user", content: [{ type: "acme:x" }] } },
    {
      type: "message",
      message: { role: "user", content: [{ type: "file", path: "/a.pdf", mimeType: "application/pdf" }] },
    },
  ])
  await session.title("mine")
  await session.title("theirs", { source: "auto" })
  const losses: Loss[] = []
  const text = await written(gemini, session, { note: (loss) => losses.push(loss) })
  expect(losses.map(({ what }) => what).sort()).toEqual([
    "annotations",
    "blocks",
    "files",
    "settings",
    "system",
    "thinking",
  ])
  expect(recordsOf(text).at(-1)).toEqual({ $set: { summary: "mine" } })
})

const chats = fixturesOf(["gemini"])

test.each(chats.filter(({ expected }) => expected.loadedRecords !== undefined))(
  "$name has as many records as Gemini CLI loads",
  async ({ golden, expected }) => {
    const { entries } = await importText(gemini, golden)
    const records = entries.filter((entry) =>
      entry.type === "message" ? entry.message.role !== "toolResult" : entry["customType"] === "gemini/user",
    )
    expect(records).toHaveLength(expected.loadedRecords ?? 0)
  },
)

/** What the judge uses of Gemini CLI. */
interface GeminiCore {
  readonly loadConversationRecord: (path: string) => Promise<{ readonly messages: readonly unknown[] }>
  readonly convertSessionToClientHistory: (messages: readonly unknown[]) => readonly {
    readonly content: {
      readonly role: string
      readonly parts: readonly { readonly text?: string; readonly thought?: boolean }[]
    }
  }[]
}

const core = process.env["GEMINI_CORE"]
if (core === undefined) console.info("Skipped: Gemini CLI's loader as the judge. GEMINI_CORE names no folder.")
const all = { ...goldens, ...Object.fromEntries(chats.map(({ name, golden }) => [name, golden])) }

test.skipIf(core === undefined).each(Object.entries(all))(
  "%s has the messages that Gemini CLI loads",
  async (_, { text }) => {
    const module = async (path: string): Promise<GeminiCore> =>
      (await import(/* @vite-ignore */ pathToFileURL(join(core as string, "dist/src", path)).href)) as GeminiCore
    const folder = await mkdtemp(join(tmpdir(), "gemini-judge-"))
    try {
      const path = join(folder, "session.jsonl")
      await writeFile(path, text)
      const { loadConversationRecord } = await module("services/chatRecordingService.js")
      const { convertSessionToClientHistory } = await module("utils/sessionUtils.js")
      const { messages } = await loadConversationRecord(path)
      const texts = convertSessionToClientHistory(messages).flatMap(({ content: { role, parts } }) =>
        parts.flatMap(({ text: part, thought }) =>
          part === undefined || thought === true ? [] : [`${role}: ${part}`],
        ),
      )
      const { session } = await importText(gemini, { text })
      const ours = (await session.context({ repair: "none" })).messages.flatMap(
        ({ message: { role, synthetic, content } }) => {
          if (role === "toolResult" || synthetic === true) return []
          return content.flatMap((block) =>
            block.type === "text" ? [`${role === "user" ? "user" : "model"}: ${block.text}`] : [],
          )
        },
      )
      expect(texts.length).toBeGreaterThan(0)
      expect(ours).toEqual(texts)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)

test.skipIf(core === undefined)("a written session has the messages that Gemini CLI loads", async () => {
  const module = async (path: string): Promise<GeminiCore> =>
    (await import(/* @vite-ignore */ pathToFileURL(join(core as string, "dist/src", path)).href)) as GeminiCore
  const { loadConversationRecord } = await module("services/chatRecordingService.js")
  const { convertSessionToClientHistory } = await module("utils/sessionUtils.js")
  const folder = await mkdtemp(join(tmpdir(), "gemini-judge-"))
  try {
    const path = join(folder, "session.jsonl")
    await fc.assert(
      fc.asyncProperty(ops, async (list) => {
        const session = await sessionOf(list)
        await writeFile(path, await written(gemini, session))
        const { messages } = await loadConversationRecord(path)
        const loaded = convertSessionToClientHistory(messages).map(({ content: { role, parts } }) =>
          [role === "user" ? "user" : "model", ...parts.map((part) => part.text ?? Object.keys(part)[0])].join(" "),
        )
        const ours = (await session.context({ repair: "none" })).messages
        const texts = ours.flatMap(({ message: { role, content } }) =>
          role === "toolResult" || content.some(({ type }) => type === "toolCall")
            ? []
            : [
                [
                  role === "user" ? "user" : "model",
                  ...content.map((block) => ("text" in block ? block.text : "")),
                ].join(" "),
              ],
        )
        expect(loaded.filter((line) => !/function(?:Call|Response)$/.test(line))).toEqual(texts)
      }),
      { numRuns: runs(50) },
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
