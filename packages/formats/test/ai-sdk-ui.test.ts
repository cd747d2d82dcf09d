/** The rules of the AI SDK's UI messages. The judge is the AI SDK itself. */
import { createSessions, type NewEntry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { convertToModelMessages, type UIMessage, validateUIMessages } from "ai"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { aiSdkUi } from "../src/ai-sdk-ui/index.ts"
import { testConversations } from "./conversation-laws.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws, written } from "./laws.ts"

const tool = (toolCallId: string, more: object) => ({ type: "tool-weather", toolCallId, input: { city: "X" }, ...more })

const chat = [
  { id: "m0", role: "system", parts: [{ type: "text", text: "Be brief." }] },
  {
    id: "m1",
    role: "user",
    metadata: { createdAt: "2026-01-31T09:30:00.000Z" },
    parts: [
      { type: "text", text: "look" },
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,aGk=", filename: "a.png" },
      { type: "data-place", data: { x: 1 } },
    ],
  },
  {
    id: "m2",
    role: "assistant",
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "s" } }, state: "done" },
      tool("c1", { state: "output-available", output: { degrees: 7 } }),
      tool("c2", { state: "output-error", errorText: "no such city" }),
      { type: "step-start" },
      { type: "text", text: "7 degrees", state: "done" },
      { type: "source-url", sourceId: "s1", url: "https://example.org" },
    ],
  },
]
const open = {
  id: "m3",
  role: "assistant",
  metadata: { traffic: "light" },
  parts: [{ type: "step-start" }, tool("c3", { state: "input-available" })],
}

const goldens = {
  "a chat": { text: JSON.stringify(chat, undefined, 1) },
  "a stored chat": { text: JSON.stringify({ id: "chat-1", messages: chat }) },
  "an open call, and records that are no messages": {
    text: JSON.stringify([
      ...chat,
      7,
      { id: "x", role: "judge", parts: [] },
      { id: "e", role: "assistant", parts: [] },
      open,
    ]),
  },
}
testLaws(aiSdkUi, goldens)
testFixtures(aiSdkUi)
testConversations(aiSdkUi, Object.values(goldens), { isHistory: true, judge: validated })

/** The AI SDK takes the messages, and makes messages for models of them, in which each result has its call. */
async function validated(messages: unknown): Promise<void> {
  if ((messages as readonly unknown[]).length === 0) return
  const valid = await validateUIMessages<UIMessage>({ messages })
  expect(valid).toEqual(messages)
  await convertToModelMessages(valid)
}

async function sessionWith(...entries: readonly NewEntry[]): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  await session.append(entries)
  return session
}

const result = (toolCallId: string, text: string, isError = false): NewEntry => ({
  type: "message",
  message: { role: "toolResult", toolCallId, isError, content: [{ type: "text", text }] },
})

test("the AI SDK takes the files that the laws are tested with", async () => {
  await expect(validated([...chat, open])).resolves.toBeUndefined()
})

test("each step of an assistant is a message, followed by the results of its calls", async () => {
  const { entries } = await importText(aiSdkUi, { text: JSON.stringify(chat) })
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  const roles = ["system", "user", "assistant", "toolResult", "toolResult", "assistant"]
  expect(messages.map(({ role }) => role)).toEqual(roles)
  expect(messages[1]?.content?.[1]).toEqual({ type: "image", mimeType: "image/png", data: "aGk=" })
  expect(messages[2]).toMatchObject({ provider: "anthropic", content: [{ thinking: "hm", signature: "s" }, {}, {}] })
  expect(messages[3]).toMatchObject({ toolName: "weather", isError: false, content: [{ text: '{"degrees":7}' }] })
  expect(messages[4]).toMatchObject({ toolCallId: "c2", isError: true, content: [{ text: "no such city" }] })
})

test("an appended result is the output of its call, and the next step a part of the same message", async () => {
  const { session } = await importText(aiSdkUi, { text: JSON.stringify([...chat, open]) })
  const answer = { role: "assistant", content: [{ type: "text", text: "rain" }] } as const
  await session.append([result("c3", "wet"), { type: "message", message: answer }])
  const messages = JSON.parse(await written(aiSdkUi, session)) as unknown[]
  const call = { type: "dynamic-tool", toolCallId: "c3", toolName: "weather", input: { city: "X" } }
  const parts = [
    { type: "step-start" },
    { ...call, state: "output-available", output: "wet" },
    { type: "step-start" },
    { type: "text", text: "rain" },
  ]
  expect(messages).toEqual([...chat, { ...open, parts }])
  await validated(messages)
})

test("a call without a result stays open, and a result without a call is reported", async () => {
  const call = { type: "toolCall", id: "c", name: "ls", arguments: {} } as const
  const session = await sessionWith(
    { type: "message", message: { role: "assistant", content: [call] } },
    result("x", "lost"),
  )
  const losses: Loss[] = []
  const text = await written(aiSdkUi, session, { note: (loss) => losses.push(loss) })
  expect(JSON.parse(text)).toMatchObject([
    { role: "assistant", parts: [{ type: "step-start" }, { type: "dynamic-tool", state: "input-available" }] },
  ])
  expect(losses).toMatchObject([{ what: "results", count: 1 }])
})

test("a result with an image keeps its blocks, as results of MCP have them", async () => {
  const call = { type: "toolCall", id: "c", name: "see", arguments: {} } as const
  const content = [
    { type: "text", text: "it" },
    { type: "image", mimeType: "image/png", data: "aGk=" },
  ] as const
  const session = await sessionWith(
    { type: "message", message: { role: "assistant", content: [call] } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: true, content } },
  )
  const text = await written(aiSdkUi, session)
  expect(JSON.parse(text)).toMatchObject([{ parts: [{}, { output: { content, isError: true } }] }])
  const { entries } = await importText(aiSdkUi, { text })
  expect(entries.at(-1)).toMatchObject({ message: { role: "toolResult", isError: true, content } })
})
