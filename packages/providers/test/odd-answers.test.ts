/** What providers, proxies and tools give beside the documented forms, and requests that no provider refuses for it. */
import { type NewEntry, SessionError, type ToolCallBlock } from "@sessions/core"
import { expect, test } from "vitest"
import { appendAiSdkStream, toAiSdk } from "../src/ai-sdk/index.ts"
import { accumulateAnthropic, appendAnthropicStream, fromAnthropic, toAnthropic } from "../src/anthropic/index.ts"
import { toGemini } from "../src/gemini/index.ts"
import { PARTIAL_CALL, toolCalls, toolResult } from "../src/index.ts"
import { accumulateOpenAIChat, appendOpenAIChatStream, fromOpenAIChat, toOpenAIChat } from "../src/openai-chat/index.ts"
import { accumulateOpenAIResponses, toOpenAIResponses } from "../src/openai-responses/index.ts"
import { newSession } from "./answers.ts"

const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })

async function* stream<E>(...events: E[]) {
  yield* events
}

const callsOf = (...calls: object[]) => ({
  id: "r1",
  choices: [{ finish_reason: "tool_calls", message: { content: null, tool_calls: calls } }],
})
const call = (id: string | undefined, name: string, text: string) => ({
  id,
  type: "function",
  function: { name, arguments: text },
})

test("OpenAI chat: of calls with one id each goes back with its own arguments", async () => {
  const session = await newSession()
  const answer = fromOpenAIChat(callsOf(call("c", "read", '{ "a": 1 }'), call("c", "write", '{ "b": 2 }')))
  await session.append([user("?"), answer, ...toolCalls(answer).map((one) => toolResult(one, one.name))])
  const { messages } = toOpenAIChat(await session.context()).request
  expect(messages).toMatchObject([
    { role: "user" },
    { tool_calls: [call("c", "read", '{ "a": 1 }'), call("c_2", "write", '{ "b": 2 }')] },
    { tool_call_id: "c", content: "read" },
    { tool_call_id: "c_2", content: "write" },
  ])
})

test("OpenAI chat: a call without an id gets one, and is executed", async () => {
  const answer = fromOpenAIChat(callsOf(call(undefined, "read", "{}"), call("", "write", "{}")))
  expect(toolCalls(answer).map(({ id, name }) => [id, name])).toEqual([
    ["r1-1", "read"],
    ["r1-2", "write"],
  ])
})

test("OpenAI chat: chunks without a delta or choices, and with empty ids, end no answer", async () => {
  const session = await newSession()
  const message = await appendOpenAIChatStream(
    session,
    stream(
      { id: "", model: "", choices: [], prompt_filter_results: [] },
      { id: "r", model: "m", choices: [{ index: 0, delta: { content: "yes" }, finish_reason: null }] },
      { id: "", model: "", choices: [{ index: 0, finish_reason: null, content_filter_offsets: {} }] },
      { id: "r", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { id: "r", model: "m", usage: { prompt_tokens: 3 } },
    ),
  )
  const content = [{ type: "text", text: "yes" }]
  expect(message).toMatchObject({ content, model: "m", responseId: "r", stopReason: "stop", usage: { input: 3 } })
})

test("OpenAI chat: calls that all have one index are told apart by their ids, pieces with new ids are not", () => {
  const piece = (id: string, called: object) => ({ index: 0, id, function: called })
  const callsIn = (...pieces: object[]) => {
    const accumulator = accumulateOpenAIChat()
    for (const one of pieces) accumulator.add({ choices: [{ index: 0, delta: { tool_calls: [one] } }] })
    accumulator.add({ choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] })
    return accumulator.entries()[0]?.message.content
  }
  expect(
    callsIn(piece("a", { name: "read", arguments: "{}" }), piece("b", { name: "write", arguments: "{}" })),
  ).toMatchObject([
    { id: "a", name: "read", arguments: {} },
    { id: "b", name: "write", arguments: {} },
  ])
  expect(callsIn(piece("a", { name: "read", arguments: '{"a":' }), piece("b", { arguments: "1}" }))).toMatchObject([
    { name: "read", arguments: { a: 1 } },
  ])
})

test("Anthropic: each call of a request has an id of its own that the API takes, and its result has the same", async () => {
  const session = await newSession()
  for (const ids of [["f.0", "f:0"], ["f.0"], ["f_0_2"]]) {
    const answer = fromOpenAIChat(callsOf(...ids.map((id) => call(id, "read", "{}"))))
    await session.append([user("?"), answer, ...toolCalls(answer).map((one) => toolResult(one, one.id))])
  }
  const blocks = toAnthropic(await session.context()).request.messages.flatMap(
    ({ content }) => content as unknown as { type: string; id?: string; tool_use_id?: string; content?: string }[],
  )
  const ids = blocks.flatMap(({ type, id }) => (type === "tool_use" ? [id] : []))
  expect(ids).toEqual(["f_0", "f_0_2", "f_0_3", "f_0_2_2"])
  const results = blocks.filter(({ type }) => type === "tool_result")
  expect(results.map((block) => block.tool_use_id)).toEqual(ids)
  expect(results.map(({ content }) => content)).toEqual(["f.0", "f:0", "f.0", "f_0_2"])
})

const anthropicCall = (json: string, stopReason: string) => [
  { type: "message_start", message: { id: "m", model: "claude" } },
  { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "c1", name: "rm", input: {} } },
  { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: json } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: stopReason } },
  { type: "message_stop" },
]

test.each([
  ['{"path":', '{"path":'],
  ["[1]", [1]],
])("Anthropic: arguments %s of a complete call are its `input`, and go back as an object", async (json, input) => {
  const session = await newSession()
  await session.append(user("clean up"))
  const answer = await appendAnthropicStream(session, stream(...anthropicCall(json, "tool_use")))
  const [found] = toolCalls(answer)
  expect(found).toMatchObject({ id: "c1", name: "rm", arguments: { input } })
  await session.append(toolResult({ id: "c1", name: "rm" }, "why", { isError: true }))
  const { messages } = toAnthropic(await session.context()).request
  expect(messages[1]?.content).toEqual([{ type: "tool_use", id: "c1", name: "rm", input: { input } }])
})

test("Anthropic: arguments that the length of the answer has cut are no complete call", async () => {
  const answer = await appendAnthropicStream(await newSession(), stream(...anthropicCall('{"path":', "max_tokens")))
  expect(answer.content).toEqual([{ type: PARTIAL_CALL, id: "c1", name: "rm", text: '{"path":' }])
})

test("Anthropic: a block whose start did not arrive leaves no hole", () => {
  const accumulator = accumulateAnthropic()
  accumulator.add({ type: "content_block_start", index: 1, content_block: { type: "text", text: "b" } } as never)
  expect(accumulator.entries()[0]?.message.content).toEqual([{ type: "text", text: "b" }])
})

test("AI SDK: errors of any value have a text, and what arrived before them is kept", async () => {
  for (const [error, errorMessage] of [
    [{ type: "overloaded_error", message: "Overloaded" }, "Overloaded"],
    [Object.create(null), "{}"],
    ["gone", "gone"],
    [7n, "unknown error"],
  ]) {
    const session = await newSession()
    const parts: { type: string; [key: string]: unknown }[] = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", text: "half" },
      { type: "error", error },
    ]
    await expect(appendAiSdkStream(session, stream(...parts))).rejects.toBe(error)
    expect((await session.messages()).messages[0]?.message).toMatchObject({ stopReason: "error", errorMessage })
  }
})

test("a tool's own objects of the types of blocks are sent as JSON, and what is no JSON is `invalid`", async () => {
  const session = await newSession()
  const list = [{ type: "file", name: "a.txt" }]
  const result = toolResult({ id: "c", name: "ls" }, list)
  expect(result.message.content).toEqual([{ type: "text", text: JSON.stringify(list) }])
  await session.append(result)
  for (const output of [1n, Object.assign(list, { 1: list })])
    expect(() => toolResult({ id: "c", name: "ls" }, output)).toThrow(SessionError)
})

test("halves of surrogate pairs are in no request, and are reported", async () => {
  const session = await newSession()
  const input = { "k\ud83d": ["\ude00", "😀"] }
  const answer = fromAnthropic({ content: [{ type: "tool_use", id: "c1", name: "n", input }], stop_reason: "tool_use" })
  await session.append([user("cut \ud83d"), answer, toolResult({ id: "c1", name: "n" }, "\ude00 end")])
  const context = { ...(await session.context()), systemPromptOverride: "s\ud83d" }
  for (const to of [toAnthropic, toOpenAIChat, toOpenAIResponses, toGemini, toAiSdk]) {
    const { request, diagnostics } = to(context)
    const text = JSON.stringify(request)
    expect(text).not.toMatch(/\\ud[89a-f]/)
    expect(text.split("\ufffd")).toHaveLength(6)
    expect(text).toContain("😀")
    expect(diagnostics.map(({ code, count }) => [code, count])).toEqual([["surrogates", 3]])
  }
})

test("a failed result without content says that it failed, and a text of white space is beside no other block", async () => {
  const session = await newSession()
  const answer = fromOpenAIChat(callsOf(...["a", "b", "c", "d"].map((id) => call(id, "n", "{}"))))
  const [a, b, c, d] = toolCalls(answer) as [ToolCallBlock, ToolCallBlock, ToolCallBlock, ToolCallBlock]
  const blank = ["\n", " "].map((value) => ({ type: "text", text: value }))
  const image = { type: "image", mimeType: "image/png", data: "AAAA" }
  await session.append([
    user("?"),
    answer,
    toolResult(a, new Error(""), { isError: true }),
    toolResult(b, [{ type: "text", text: "\n" }, image]),
    toolResult(c, "\n"),
    toolResult(d, blank),
  ])
  const { messages } = toAnthropic(await session.context()).request
  expect(messages.at(-1)?.content).toMatchObject([
    { tool_use_id: "a", content: "The tool has failed without a message.", is_error: true },
    { tool_use_id: "b", content: [{ type: "image" }] },
    { tool_use_id: "c", content: "\n" },
    { tool_use_id: "d", content: "\n " },
  ])
  expect(JSON.stringify(toAiSdk(await session.context()).request)).toContain("failed without a message")
})

test("OpenAI Responses: a response without its output has the items that arrived", () => {
  const accumulator = accumulateOpenAIResponses()
  const item = { type: "message", id: "m", role: "assistant", content: [] }
  const events: { type: string; [key: string]: unknown }[] = [
    { type: "response.created", response: { id: "r", output: null } },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "yes" },
    { type: "response.completed", response: { id: "r", status: "completed", output: null } },
  ]
  for (const event of events) accumulator.add(event)
  expect(accumulator.entries()[0]?.message).toMatchObject({ content: [{ text: "yes" }], stopReason: "completed" })
})
