/** The rules of molf's documents. */
import { expect, test } from "vitest"
import { molf } from "../src/molf/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"

const time = (n: number) => ({ timestamp: 1_760_000_000_000 + n })
const file = (n: number) => ({ path: `f${n}`, mimeType: "image/png", filename: "f.png", size: 1 })
const session = {
  sessionId: "s1",
  name: "Session 1",
  workerId: "w1",
  workspaceId: "ws1",
  createdAt: 1_760_000_000_000,
  lastActiveAt: 1_760_000_009_000,
}
const pair = (n: number, summary: string) => [
  { id: `m${n}`, role: "user", content: "summarized", ...time(n), synthetic: true, summary: true },
  { id: `m${n + 1}`, role: "assistant", content: summary, ...time(n), synthetic: true, summary: true },
]
const messages = [
  { id: "m1", role: "user", content: "look", ...time(1), attachments: Array.from({ length: 11 }, (_, i) => file(i)) },
  {
    id: "m2",
    role: "assistant",
    content: "ok",
    ...time(2),
    reasoning: "hm",
    toolCalls: [{ toolCallId: "c1", toolName: "read_file", args: { path: "a" } }],
    usage: { inputTokens: 10, outputTokens: 2, cacheReadTokens: 1 },
    model: "openrouter/acme/large",
  },
  { id: "m3", role: "tool", content: "data", toolCallId: "c1", ...time(3) },
  ...pair(4, "first"),
  { id: "m6", role: "user", content: "q2", ...time(6) },
  ...pair(7, "second"),
  { id: "m9", role: "user", content: "q3", ...time(9) },
]
const text = JSON.stringify({ ...session, messages }, undefined, 1)

const other = JSON.stringify({ ...session, messages: [null, ...messages, 7] })

testLaws(molf, { "a session": { text }, "a session with messages that are none": { text: other } }, (entries) => {
  const [fields, ...messages] = restored(entries, () => [{}])
  return [{ ...(fields as object), messages }]
})
testFixtures(molf)

test("every record can be restored from the log", async () => {
  for (const [file, records] of [
    [text, messages],
    [other, [null, ...messages, 7]],
  ] as const) {
    const { entries } = await importText(molf, { text: file })
    expect(restored(entries, () => [{}])).toEqual([session, ...records])
  }
})

test("messages have thinking, calls, usage, a model and at most ten attachments", async () => {
  const { entries, diagnostics } = await importText(molf, { text })
  const [user, assistant, result] = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  expect(user?.attachments).toHaveLength(10)
  expect(user?.content).toEqual([
    { type: "text", text: "look" },
    { type: "file", ...file(10) },
  ])
  expect(diagnostics.map(({ code }) => code)).toEqual(["invalid_record"])
  expect(assistant).toMatchObject({
    provider: "openrouter",
    model: "acme/large",
    usage: { input: 10, output: 2, cacheRead: 1 },
    content: [{ type: "thinking" }, { type: "text" }, { type: "toolCall", id: "c1", arguments: { path: "a" } }],
  })
  expect(result).toMatchObject({ role: "toolResult", toolName: "read_file", isError: false })
})

test("the last pair of summaries is a compaction in two messages, which keeps nothing before it", async () => {
  const { session } = await importText(molf, { text })
  const context = (await session.context({ repair: "none" })).messages.map(({ message }) => message.content[0])
  expect(context.slice(1)).toMatchObject([{ text: "second" }, { text: "q3" }])
  expect(await session.info()).toMatchObject({ title: "Session 1" })
})
