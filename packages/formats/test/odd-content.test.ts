/** Content that the agents leave out of what they send, with what is next to it, is written in a form that they send. */
import { expect, test } from "vitest"
import { claudeCode } from "../src/claude-code/index.ts"
import { codex } from "../src/codex/index.ts"
import { gemini } from "../src/gemini/index.ts"
import { opencode } from "../src/opencode/index.ts"
import { pi } from "../src/pi/index.ts"
import { type Fields, fieldsOf } from "../src/base/values.ts"
import { importText, recordsOf, written } from "./laws.ts"
import { call, result, say, sessionWith } from "./odd-sessions.ts"

type Format = Parameters<typeof written>[0]

async function linesOf(format: Format, session: Parameters<typeof written>[1]) {
  const losses: string[] = []
  const text = await written(format, session, { note: ({ what, count }) => losses.push(`${what} ${count}`) })
  return { text, records: recordsOf(text) as readonly Fields[], losses }
}

test("Gemini CLI: an empty text is in no record", async () => {
  const session = await sessionWith(say("user", "q"), say("assistant", "a"), say("user", ""), say("assistant", "", "b"))
  const { records } = await linesOf(gemini, session)
  expect(records.slice(1).map(({ content }) => content)).toEqual([[{ text: "q" }], [{ text: "a" }], [{ text: "b" }]])
})

test("Gemini CLI: a call without a result has the response that core adds, and one with a result has its own", async () => {
  const calls = [
    { id: "c1", command: "ls" },
    { id: "c2", command: "ls" },
  ]
  const { records } = await linesOf(gemini, await sessionWith(call(...calls), result("c2", "out")))
  const response = (id: string, value: object) => [{ functionResponse: { id, name: "bash", response: value } }]
  expect(records[1]?.["toolCalls"]).toMatchObject([
    {
      id: "c1",
      status: "cancelled",
      result: response("c1", { error: "No result was recorded for this tool call." }),
    },
    { id: "c2", status: "success", result: response("c2", { output: "out" }) },
  ])
})

test("Gemini CLI: a result that was appended to a chat answers its open call; one without a call is left out, and named", async () => {
  const { text } = await linesOf(gemini, await sessionWith(say("user", "q"), call({ id: "c1", command: "1" })))
  // As a chat that ended in the middle of the call.
  const open = text.replace(/"result":\[[^\]]*\],/, "")
  const { session } = await importText(gemini, { text: open })
  await session.append([result("c1", "r1"), result("c1", "again"), result("c9", "lost")])
  const { records, losses } = await linesOf(gemini, session)
  const response = { id: "c1", name: "bash", response: { output: "r1" } }
  expect(records.slice(3)).toMatchObject([{ type: "user", content: [{ functionResponse: response }] }])
  expect(losses).toEqual(["results 2"])
  const fresh = await linesOf(gemini, await sessionWith(say("user", "q"), result("c9", "lost")))
  expect(fresh.records).toHaveLength(2)
  expect(fresh.losses).toEqual(["results 1"])
})

test("Codex: half of a surrogate pair is U+FFFD in new lines, and named; a text that looks like its escape stays", async () => {
  const odd = "\ud83d \ude00 🙂 \\ud83d \\\ud83d"
  const session = await sessionWith(say("user", odd))
  const { text, losses } = await linesOf(codex, session)
  expect(text).not.toMatch(/(?<!\\)(?:\\\\)*\\ud/)
  expect(losses).toEqual(["surrogates 1"])
  const again = await importText(codex, { text })
  const { messages } = await again.session.context()
  expect(messages[0]?.message.content).toEqual([{ type: "text", text: "\ufffd \ufffd 🙂 \\ud83d \\\ufffd" }])
  await again.session.append(say("assistant", odd))
  const longer = await linesOf(codex, again.session)
  expect(longer.text.startsWith(text)).toBe(true)
  expect(longer.text).not.toMatch(/(?<!\\)(?:\\\\)*\\ud/)
})

test("Claude Code: calls whose ids repeat, or are the same in its form, have ids of their own, with their results", async () => {
  const session = await sessionWith(
    call({ id: "c 1", command: "1" }, { id: "c_1", command: "2" }),
    result("c 1", "r1"),
    result("c_1", "r2"),
    call({ id: "c 1", command: "3" }, { id: "c 1", command: "4" }),
    result("c 1", "r3"),
    result("c 1", "r4"),
    // Claude Code takes this id for that of a repeated call.
    call({ id: "c_1_5", command: "5" }),
    result("c_1_5", "r5"),
    result("c9", "of no call"),
  )
  const { records, losses } = await linesOf(claudeCode, session)
  const blocks = records.flatMap(({ message }) => fieldsOf(message)["content"] as readonly Fields[])
  const calls = blocks.filter(({ type }) => type === "tool_use")
  expect(calls.map(({ id }) => id)).toEqual(["c_1", "c_1-2", "c_1-3", "c_1-4", "c_1_5-2"])
  const results = blocks.filter(({ type }) => type === "tool_result")
  expect(results.map(({ tool_use_id: id, content }) => [id, content])).toEqual([
    ["c_1", "r1"],
    ["c_1-2", "r2"],
    ["c_1-3", "r3"],
    ["c_1-4", "r4"],
    ["c_1_5-2", "r5"],
  ])
  expect(losses).toEqual(["results 1"])
})

test("Claude Code: a result that was appended to a file of its own answers the call in the file", async () => {
  const { text } = await linesOf(claudeCode, await sessionWith(say("user", "q"), call({ id: "c1", command: "1" })))
  const { session } = await importText(claudeCode, { text })
  await session.append([result("c1", "r1"), call({ id: "c1", command: "2" }), result("c1", "r2")])
  const { records, losses } = await linesOf(claudeCode, session)
  expect(records.slice(2).map(({ message }) => fieldsOf(message)["content"])).toMatchObject([
    [{ tool_use_id: "c1", content: "r1" }],
    [{ type: "tool_use", id: "c1-2" }],
    [{ tool_use_id: "c1-2", content: "r2" }],
  ])
  expect(losses).toEqual([])
})

test.each([
  ["a reset", async () => sessionWith(say("user", "q"), { type: "reset_boundary" })],
  [
    "resetLeaf",
    async () => {
      const session = await importText(claudeCode, {
        text: (await linesOf(claudeCode, await sessionWith(say("user", "q")))).text,
      })
      await session.session.resetLeaf()
      return session.session
    },
  ],
] as const)(
  "Claude Code: a session that begins anew at its end, by %s, has a last line without a parent",
  async (_, make) => {
    const { records } = await linesOf(claudeCode, await make())
    expect(records.at(-1)).toMatchObject({ type: "user", parentUuid: null, isMeta: true })
    expect(records.filter(({ parentUuid }) => parentUuid === null)).toHaveLength(2)
  },
)

test("Claude Code: a session without a reset, or with one before its last message, has no such line", async () => {
  const sessions = [[say("user", "q")], [say("user", "q"), { type: "reset_boundary" } as const, say("user", "q2")]]
  for (const entries of sessions) {
    const { records } = await linesOf(claudeCode, await sessionWith(...entries))
    expect(records.some(({ isMeta }) => isMeta === true)).toBe(false)
  }
})

test("Claude Code: the attachments of a message are in it as their paths, and named", async () => {
  const attachments = [{ path: "/a.pdf", mimeType: "application/pdf" }]
  const content = [{ type: "text", text: "see" }] as const
  const session = await sessionWith({ type: "message", message: { role: "user", content, attachments } })
  const { records, losses } = await linesOf(claudeCode, session)
  expect(fieldsOf(records[0]?.["message"])["content"]).toEqual([
    { type: "text", text: "see" },
    { type: "text", text: "[File: /a.pdf]" },
  ])
  expect(losses).toEqual(["files 1"])
})

test("pi: a result without a call is not in the log, and named", async () => {
  const session = await sessionWith(
    say("user", "q"),
    result("c9", "lost"),
    call({ id: "c1", command: "1" }),
    result("c1", "r"),
  )
  const { records, losses } = await linesOf(pi, session)
  expect(records.map(({ message }) => fieldsOf(message)["role"])).toEqual([
    undefined,
    "user",
    "assistant",
    "toolResult",
  ])
  expect(losses).toEqual(["results 1"])
})

test("opencode: the summary of an earlier compaction is not in what a later one keeps", async () => {
  const session = await sessionWith(
    say("user", "q1"),
    say("assistant", "a1"),
    say("user", "q2"),
    say("assistant", "a2"),
  )
  const compact = async (from: number, summary: string) => {
    const ids = (await session.messages()).messages.map(({ entryId }) => entryId)
    const files = { readFiles: [], modifiedFiles: [] }
    await session.append({ type: "compaction", summary, firstKeptEntryId: ids[from] ?? "", tokensBefore: 1, ...files })
  }
  const texts = async () => {
    const [document] = (await linesOf(opencode, session)).records
    const messages = document?.["messages"] as readonly { readonly parts: readonly Fields[] }[]
    return messages.flatMap(({ parts }) => parts.flatMap(({ type, text }) => (type === "text" ? [text] : [])))
  }
  await compact(2, "SUM1")
  await session.append([say("user", "q3"), say("assistant", "a3")])
  await compact(3, "SUM2")
  expect(await texts()).toEqual(["q1", "a1", "q2", "a2", "q3", "a3", "SUM2"])
  await session.append(say("user", "q4"))
  await compact(6, "SUM3")
  expect(await texts()).toEqual(["q1", "a1", "q2", "a2", "q3", "a3", "SUM2", "q4", "SUM3"])
})
