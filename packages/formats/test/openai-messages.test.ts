/** The rules of OpenAI's messages. */
import { createSessions, type NewEntry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { openaiMessages } from "../src/openai-messages/index.ts"
import { testConversations, without } from "./conversation-laws.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws, written } from "./laws.ts"

const call = (id: string, args: string) => ({ id, type: "function", function: { name: "read", arguments: args } })
const image = { type: "image_url", image_url: { url: "data:image/png;base64,aGk=", detail: "low" } }

const chat = [
  { role: "developer", content: "Be brief." },
  { role: "user", content: [{ type: "text", text: "look" }, image], name: "ada" },
  { role: "assistant", content: null, tool_calls: [call("c1", '{"path": "a"}'), call("c2", "not JSON")] },
  { role: "tool", tool_call_id: "c1", content: "data" },
  { role: "tool", tool_call_id: "c2", content: [{ type: "text", text: "x" }] },
  { role: "assistant", content: "done", refusal: null, reasoning_content: "hm" },
]

const goldens = {
  "an array": { text: JSON.stringify(chat, undefined, 1) },
  "a request": { text: JSON.stringify({ model: "m", messages: chat, tools: [] }) },
  "an open call and a result without a call": {
    text: JSON.stringify([
      { role: "tool", tool_call_id: "gone", content: "x" },
      { role: "user", content: "go" },
      { role: "assistant", content: "ok", tool_calls: [call("c1", "{}")] },
    ]),
  },
  "the older API, audio, custom tools and records that are no messages": {
    text: JSON.stringify([
      { role: "user", content: [{ type: "input_audio", input_audio: { data: "aGk=", format: "wav" } }] },
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "1" },
      { role: "narrator", content: "?" },
      { role: "assistant", content: [null] },
      7,
      { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "sh", input: "ls" } }] },
      { role: "tool", tool_call_id: "c", content: "" },
    ]),
  },
}
testLaws(openaiMessages, goldens)
testFixtures(openaiMessages)
testConversations(openaiMessages, Object.values(goldens), { shown: without("thinking") })

async function sessionWith(...entries: readonly NewEntry[]): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  await session.append(entries)
  return session
}

const say = (role: "user" | "assistant", text: string): NewEntry => ({
  type: "message",
  message: { role, content: [{ type: "text", text }] },
})

test("messages have calls, results with the names of tools, images and thinking", async () => {
  const { entries } = await importText(openaiMessages, { text: JSON.stringify(chat) })
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  expect(messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "toolResult",
    "toolResult",
    "assistant",
  ])
  expect(messages[1]?.content?.[1]).toEqual({ type: "image", mimeType: "image/png", data: "aGk=" })
  expect(messages[2]?.content).toEqual([
    { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } },
    { type: "toolCall", id: "c2", name: "read", arguments: { input: "not JSON" } },
  ])
  expect(messages[3]).toMatchObject({ toolCallId: "c1", toolName: "read", isError: false })
  expect(messages[5]?.content).toMatchObject([{ type: "thinking", thinking: "hm" }, { text: "done" }])
})

test("a record that is no message is kept aside with a diagnostic", async () => {
  const { diagnostics } = await importText(openaiMessages, { text: '[{"role":"user","content":"a"},7]' })
  expect(diagnostics).toMatchObject([
    { code: "invalid_record", message: expect.stringContaining("Record 2") as string },
  ])
})

test("a chat of calls of the older API alone is of this format", async () => {
  const record = { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } }
  const { session } = await importText(openaiMessages, { text: JSON.stringify([record]) })
  const { messages } = await session.messages()
  expect(messages[0]?.message).toMatchObject({ role: "assistant", content: [{ type: "toolCall", name: "f" }] })
})

test("a message that was appended follows the records of the file, which stay as they were", async () => {
  const { session } = await importText(openaiMessages, { text: JSON.stringify({ model: "m", messages: chat }) })
  await session.append(say("user", "more"))
  const expected = { model: "m", messages: [...chat, { role: "user", content: "more" }] }
  expect(JSON.parse(await written(openaiMessages, session))).toEqual(expected)
})

test("an edited message is written anew, and the others stay as they were", async () => {
  const { session, entries } = await importText(openaiMessages, { text: JSON.stringify(chat) })
  await session.edit(entries[1]?.id ?? "", { content: [{ type: "text", text: "shorter" }] })
  const [first, , ...rest] = chat
  const expected = [first, { role: "user", content: "shorter" }, ...rest]
  expect(JSON.parse(await written(openaiMessages, session))).toEqual(expected)
})

test("an export has a result for each call, no result without one, and says what it does not hold", async () => {
  const toolCall = { type: "toolCall", id: "c", name: "ls", arguments: {} } as const
  const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const
  const orphan = { role: "toolResult", toolCallId: "x", isError: true, content: [{ type: "text", text: "y" }] } as const
  const session = await sessionWith(
    say("user", "go"),
    { type: "message", message: { role: "assistant", content: [thinking, toolCall] } },
    { type: "message", message: orphan },
  )
  const losses: Loss[] = []
  const text = await written(openaiMessages, session, { note: (loss) => losses.push(loss) })
  expect(JSON.parse(text)).toEqual([
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c", type: "function", function: { name: "ls", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c", content: "No result was recorded for this tool call." },
  ])
  expect(losses.map(({ what, count }) => [what, count])).toEqual([
    ["repairs", 2],
    ["thinking", 1],
    ["errors", 1],
  ])
})

test("a compacted session is written as its context, with the number of messages that are not in the file", async () => {
  const session = await sessionWith(say("user", "a"), say("assistant", "b"))
  await session.append([say("user", "c")])
  const compaction = {
    summary: "S",
    firstKeptEntryId: session.leafId ?? "",
    tokensBefore: 1,
    readFiles: [],
    modifiedFiles: [],
  }
  await session.append({ type: "compaction", ...compaction })
  const losses: Loss[] = []
  const text = await written(openaiMessages, session, { note: (loss) => losses.push(loss) })
  const messages = JSON.parse(text) as readonly { readonly content: string }[]
  expect(messages.map(({ content }) => content)).toEqual([expect.stringContaining("<summary>\nS\n"), "c"])
  expect(losses).toMatchObject([{ what: "compacted", count: 2 }])
})
