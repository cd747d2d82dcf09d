/** The rules of the items of OpenAI's Responses API and of its Agents SDK. Types and schemas of OpenAI judge what is written. */
import { protocol } from "@openai/agents-core"
import { createSessions, type ModelMessage, type NewEntry } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import type { ResponseInputItem } from "openai/resources/responses/responses"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { openaiAgents } from "../src/openai-agents/index.ts"
import { openaiResponses } from "../src/openai-responses/index.ts"
import { testConversations, without } from "./conversation-laws.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, testLaws, written } from "./laws.ts"

const items: ResponseInputItem[] = [
  { role: "developer", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "input_text", text: "look" },
      { type: "input_image", image_url: "data:image/png;base64,aGk=", detail: "low" },
    ],
  },
  { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "enc" },
  { type: "function_call", call_id: "c1", name: "read", arguments: '{"path": "a"}', status: "completed" },
  { type: "custom_tool_call", call_id: "c2", name: "sh", input: "ls" },
  { type: "function_call_output", call_id: "c1", output: "data" },
  { type: "custom_tool_call_output", call_id: "c2", output: [{ type: "input_text", text: "x" }] },
  { type: "web_search_call", id: "ws", status: "completed", action: { type: "search", queries: ["q"] } },
  {
    type: "message",
    id: "msg",
    role: "assistant",
    status: "completed",
    content: [
      { type: "output_text", text: "done", annotations: [] },
      { type: "refusal", refusal: "no" },
    ],
  },
  { type: "reasoning", id: "rs_2", summary: [] },
]

const agentsItems: protocol.ModelItem[] = [
  { role: "system", content: "Be brief." },
  {
    type: "message",
    role: "user",
    content: [
      { type: "input_text", text: "look" },
      { type: "input_image", image: "data:image/png;base64,aGk=" },
    ],
  },
  { type: "reasoning", content: [{ type: "input_text", text: "hm" }], providerData: { encrypted_content: "enc" } },
  { type: "function_call", callId: "c1", name: "read", arguments: '{"path": "a"}', status: "completed", id: "fc" },
  {
    type: "function_call_result",
    callId: "c1",
    name: "read",
    status: "incomplete",
    output: { type: "text", text: "data" },
  },
  { type: "hosted_tool_call", name: "web_search_call", status: "completed" },
  { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] },
]

const responsesGoldens = {
  "items of the Responses API": { text: JSON.stringify(items, undefined, 1) },
  "a request": { text: JSON.stringify({ model: "m", input: items, instructions: "Be brief." }) },
  "records that are no items": { text: JSON.stringify([...items.slice(3, 6), 7, { role: "narrator" }, {}]) },
}
testLaws(openaiResponses, responsesGoldens)
const agentsGoldens = {
  "items of the Agents SDK": { text: JSON.stringify(agentsItems) },
  "records that are no items of the SDK": { text: JSON.stringify([...agentsItems, 7, { callId: 1 }]) },
}
testLaws(openaiAgents, agentsGoldens)
testFixtures(openaiAgents)
testFixtures(openaiResponses)

/** A message of calls alone belongs to the one before it: the API has a list of items. */
function joined(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const found: ModelMessage[] = []
  for (const message of without("thinking")(messages)) {
    const last = found.at(-1)
    const isCalls = message.content.length > 0 && message.content.every(({ type }) => type === "toolCall")
    if (message.role === "assistant" && last?.role === "assistant" && isCalls)
      found[found.length - 1] = { ...last, content: [...last.content, ...message.content] }
    else found.push(message)
  }
  return found
}

testConversations(openaiResponses, Object.values(responsesGoldens), { shown: joined })
testConversations(openaiAgents, Object.values(agentsGoldens), {
  shown: joined,
  judge(document) {
    for (const item of document as unknown[]) protocol.ModelItem.parse(item)
  },
})

test("reasoning, text and calls of the assistant are one message, and other items are kept aside", async () => {
  for (const [format, list] of [
    [openaiResponses, items],
    [openaiAgents, agentsItems],
  ] as const) {
    const { entries, diagnostics } = await importText(format, { text: JSON.stringify(list) })
    const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
    expect(messages[0]).toEqual({ role: "system", content: [{ type: "text", text: "Be brief." }] })
    expect(messages[1]?.content?.[1]).toEqual({ type: "image", mimeType: "image/png", data: "aGk=" })
    const custom = { type: "toolCall", id: "c2", name: "sh", arguments: { input: "ls" } }
    expect(messages[2]?.content).toEqual([
      { type: "thinking", thinking: "hm", signature: "enc" },
      { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } },
      ...(format === openaiAgents ? [] : [custom]),
    ])
    expect(messages.find(({ role }) => role === "toolResult")).toMatchObject({
      toolCallId: "c1",
      toolName: "read",
      isError: format === openaiAgents,
      content: [{ type: "text", text: "data" }],
    })
    expect(entries.filter(({ type }) => type === "custom")).toHaveLength(format === openaiAgents ? 1 : 2)
    expect(diagnostics).toEqual([])
  }
})

async function sessionWith(...messages: readonly ModelMessage[]) {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  await session.append(messages.map((message): NewEntry => ({ type: "message", message })))
  return session
}

const text = (value: string) => ({ type: "text", text: value }) as const
const image = { type: "image", mimeType: "image/png", data: "aGk=" } as const
const call = (id: string) => ({ type: "toolCall", id, name: "ls", arguments: { a: 1 } }) as const
const thinking = { type: "thinking", thinking: "hm", signature: "enc" } as const

test("a message is written as items in the types of OpenAI; reasoning goes back to its own provider only", async () => {
  const session = await sessionWith(
    { role: "system", content: [text("Be brief.")] },
    { role: "user", content: [text("look"), image] },
    { role: "assistant", provider: "openai", model: "m", content: [thinking, text("so"), call("c1"), call("c2")] },
    { role: "toolResult", toolCallId: "c1", isError: false, content: [text("x"), image] },
    { role: "toolResult", toolCallId: "c2", isError: true, content: [text("y")] },
    { role: "assistant", provider: "anthropic", model: "n", content: [thinking, text("one"), text("two")] },
  )
  const losses: Loss[] = []
  const found = JSON.parse(await written(openaiResponses, session, { note: (loss) => losses.push(loss) })) as unknown
  const expected: ResponseInputItem[] = [
    { type: "message", role: "developer", content: "Be brief." },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "look" },
        { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGk=" },
      ],
    },
    {
      type: "reasoning",
      id: expect.stringMatching(/^rs_/) as string,
      summary: [{ type: "summary_text", text: "hm" }],
      encrypted_content: "enc",
    },
    { type: "message", role: "assistant", content: "so" },
    { type: "function_call", call_id: "c1", name: "ls", arguments: '{"a":1}' },
    { type: "function_call", call_id: "c2", name: "ls", arguments: '{"a":1}' },
    {
      type: "function_call_output",
      call_id: "c1",
      output: [
        { type: "input_text", text: "x" },
        { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGk=" },
      ],
    },
    { type: "function_call_output", call_id: "c2", output: "y" },
  ]
  const both = [text("one"), text("two")].map(({ text: value }) => ({ type: "output_text", text: value }))
  expect(found).toEqual([...expected, { type: "message", role: "assistant", content: both }])
  expect(losses.map(({ what, count }) => [what, count])).toEqual([
    ["errors", 1],
    ["thinking", 1],
  ])
  const ofSdk = JSON.parse(await written(openaiAgents, session)) as unknown[]
  expect(ofSdk.map((item) => protocol.ModelItem.parse(item))).toEqual(ofSdk)
  expect(ofSdk.map((item) => (item as { type: string }).type)).toEqual(
    (found as { type: string }[]).map(({ type }) => type.replace("_output", "_result")),
  )
})

test("a request whose session goes on keeps its fields and its items as they were", async () => {
  const { session } = await importText(openaiResponses, { text: JSON.stringify({ model: "m", input: items }) })
  await session.append({ type: "message", message: { role: "user", content: "more" } })
  expect(JSON.parse(await written(openaiResponses, session))).toEqual({
    model: "m",
    input: [...items, { type: "message", role: "user", content: "more" }],
  })
})
