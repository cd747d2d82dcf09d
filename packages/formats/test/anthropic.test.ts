/** The rules of Anthropic's messages. */
import { createSessions, type NewEntry } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { anthropic } from "../src/anthropic/index.ts"
import { openaiMessages } from "../src/openai-messages/index.ts"
import { testConversations } from "./conversation-laws.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws, written } from "./laws.ts"

const use = (id: string) => ({ type: "tool_use", id, name: "read", input: { path: id } })
const result = (id: string, more: object = {}) => ({ type: "tool_result", tool_use_id: id, content: "data", ...more })
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "aGk=" } }

const messages = [
  { role: "user", content: [{ type: "text", text: "look", cache_control: { type: "ephemeral" } }, image] },
  {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-x",
    content: [{ type: "thinking", thinking: "hm", signature: "sig" }, { type: "text", text: "ok" }, use("a"), use("b")],
    stop_reason: "tool_use",
    usage: { input_tokens: 3, output_tokens: 4, service_tier: "standard" },
  },
  { role: "user", content: [result("a", { is_error: true }), result("b"), { type: "text", text: "and?" }] },
  { role: "assistant", content: "done" },
]
const request = { model: "claude-x", system: [{ type: "text", text: "Be brief." }], messages, max_tokens: 9 }

const goldens = {
  "a request": { text: JSON.stringify(request, undefined, 2) },
  "an array": { text: JSON.stringify(messages) },
  "an open call, a result without a call, redacted thinking and other records": {
    text: JSON.stringify({
      messages: [
        { role: "user", content: [result("gone")] },
        { role: "assistant", content: [{ type: "redacted_thinking", data: "x" }, use("c")] },
        { role: "user", content: [{ type: "document", source: { type: "url", url: "u" } }] },
        null,
        { role: "user" },
      ],
      system: "S",
    }),
  },
}
testLaws(anthropic, goldens)
testFixtures(anthropic)
testConversations(anthropic, Object.values(goldens), {
  // All system messages are one at the beginning.
  shown(messages) {
    const others = messages.filter(({ role }) => role !== "system")
    const content = messages.flatMap((message) => (message.role === "system" ? message.content : []))
    return content.length === 0 ? others : [{ role: "system", content }, ...others]
  },
  judge: (document) => checkMessages((document as { readonly messages: readonly Message[] }).messages),
})

interface Message {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly id?: string; readonly tool_use_id?: string }[]
}

/** What the API demands: the message after calls has exactly their results. */
function checkMessages(list: readonly Message[]): void {
  const blocks = ({ content }: Message, type: string) =>
    typeof content === "string" ? [] : content.filter((block) => block.type === type)
  for (const [i, message] of list.entries()) {
    expect(["user", "assistant"]).toContain(message.role)
    expect(message.content).not.toHaveLength(0)
    const before = list[i - 1]
    const calls = before === undefined ? [] : blocks(before, "tool_use").map(({ id }) => id)
    expect(blocks(message, "tool_result").map(({ tool_use_id: id }) => id)).toEqual(calls)
  }
}

test("results are messages of their own before the text of their message", async () => {
  const { entries } = await importText(anthropic, { text: JSON.stringify(request) })
  const found = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  const roles = ["system", "user", "assistant", "toolResult", "toolResult", "user", "assistant"]
  expect(found.map(({ role }) => role)).toEqual(roles)
  expect(found[2]).toMatchObject({ provider: "anthropic", model: "claude-x", usage: { input: 3, output: 4 } })
  expect(found[3]).toMatchObject({ toolCallId: "a", toolName: "read", isError: true })
})

test("thinking is written if Anthropic signed it, and ids of calls only have characters that the API takes", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const
  const assistant = (provider: string, id: string): NewEntry => {
    const call = { type: "toolCall", id, name: "ls", arguments: {} } as const
    return { type: "message", message: { role: "assistant", provider, content: [thinking, call] } }
  }
  const answer = (toolCallId: string): NewEntry => {
    const content = [{ type: "text", text: "x" }] as const
    return { type: "message", message: { role: "toolResult", toolCallId, isError: false, content } }
  }
  await session.append([
    { type: "message", message: { role: "system", content: [{ type: "text", text: "S" }] } },
    assistant("openai", "call|1"),
    answer("call|1"),
    assistant("anthropic", "c2"),
    answer("c2"),
  ])
  expect(JSON.parse(await written(anthropic, session))).toEqual({
    system: "S",
    messages: [
      { role: "assistant", content: [{ type: "tool_use", id: "call_1", name: "ls", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "x" }] },
      { role: "assistant", content: [thinking, { type: "tool_use", id: "c2", name: "ls", input: {} }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "c2", content: "x" }] },
    ],
  })
})

test("a result that was appended joins the results of the file", async () => {
  const half = [messages[0], messages[1], { role: "user", content: [result("a", { is_error: true })] }]
  const { session } = await importText(anthropic, { text: JSON.stringify(half) })
  const content = [{ type: "text", text: "data" }] as const
  await session.append({ type: "message", message: { role: "toolResult", toolCallId: "b", isError: false, content } })
  const expected = [messages[0], messages[1], { role: "user", content: [result("a", { is_error: true }), result("b")] }]
  expect(JSON.parse(await written(anthropic, session))).toEqual(expected)
})

test("the documents of OpenAI's messages and of Anthropic's are told apart by their contents", () => {
  const plain = JSON.stringify([{ role: "user", content: "hi" }])
  const tools = JSON.stringify(messages)
  expect([openaiMessages.identify(plain), anthropic.identify(plain)]).toEqual([true, true])
  expect([openaiMessages.identify(tools), anthropic.identify(tools)]).toEqual([false, true])
})
