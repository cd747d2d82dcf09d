/** What each provider cannot hold is named, streams that end early are marked, cache marks are where they pay. */
import { type NewEntry, SessionError } from "@sessions/core"
import { describe, expect, test } from "vitest"
import { appendAiSdkStream, toAiSdk } from "../src/ai-sdk/index.ts"
import { accumulateAnthropic, appendAnthropicStream, fromAnthropic, toAnthropic } from "../src/anthropic/index.ts"
import { fromGemini, toGemini } from "../src/gemini/index.ts"
import { type Context, PARTIAL_CALL, toolCalls, toolResult } from "../src/index.ts"
import { fromOpenAIChat, toOpenAIChat } from "../src/openai-chat/index.ts"
import { appendOpenAIResponsesStream, toOpenAIResponses } from "../src/openai-responses/index.ts"
import { newSession } from "./answers.ts"

const TARGETS = {
  anthropic: (context: Context, system?: string) => toAnthropic(context, system === undefined ? {} : { system }),
  "openai-chat": (context: Context, system?: string) => toOpenAIChat(context, system === undefined ? {} : { system }),
  "openai-responses": (context: Context, system?: string) =>
    toOpenAIResponses(context, system === undefined ? {} : { system }),
  gemini: (context: Context, system?: string) => toGemini(context, system === undefined ? {} : { system }),
  "ai-sdk": (context: Context, system?: string) => toAiSdk(context, system === undefined ? {} : { system }),
} as const
const names = Object.keys(TARGETS) as (keyof typeof TARGETS)[]

async function contextOf(...entries: NewEntry[]): Promise<Context> {
  const session = await newSession()
  await session.append(entries)
  return session.context()
}

const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })
const PNG = { type: "image", mimeType: "image/png", data: "AAAA" } as const

/** A message of every block, by a provider that none of the targets is. */
const full: readonly NewEntry[] = [
  user("look"),
  {
    type: "message",
    message: {
      role: "assistant",
      provider: "acme",
      content: [
        { type: "thinking", thinking: "SECRET-THOUGHT", signature: "SECRET-SIGNATURE" },
        { type: "text", text: "I look" },
        { type: "acme:chart", data: "SECRET-CHART" },
        { type: "toolCall", id: "c1", name: "see", arguments: {} },
      ],
    },
  },
  toolResult({ id: "c1", name: "see" }, [{ type: "text", text: "seen" }, PNG], { isError: true }),
  { type: "message", message: { role: "system", content: "be brief" } },
  {
    type: "message",
    message: {
      role: "user",
      content: [{ type: "file", path: "a.pdf", mimeType: "application/pdf" }, PNG],
      attachments: [{ path: "b.txt", mimeType: "text/plain" }],
    },
  },
]

const LOSSES = {
  anthropic: ["attachments", "blocks", "files", "system_moved", "thinking"],
  "openai-chat": ["attachments", "blocks", "errors", "files", "images_moved", "thinking"],
  "openai-responses": ["attachments", "blocks", "errors", "files", "thinking"],
  gemini: ["attachments", "blocks", "files", "images_moved", "system_moved", "thinking"],
  "ai-sdk": ["attachments", "blocks", "files", "signatures", "system_moved"],
} as const

describe.each(names)("%s", (name) => {
  test("each loss has a diagnostic, and nothing else is lost", async () => {
    const { request, diagnostics } = TARGETS[name](await contextOf(...full))
    expect(diagnostics.map(({ code }) => code).toSorted((a, b) => a.localeCompare(b))).toEqual(LOSSES[name])
    const sent = JSON.stringify(request)
    for (const part of ["look", "I look", "seen", "be brief", "a.pdf"]) expect(sent).toContain(part)
    expect(sent.split("AAAA")).toHaveLength(3)
    expect(sent).not.toContain("SECRET-CHART")
    expect(sent).not.toContain("SECRET-SIGNATURE")
  })

  test("the system prompt of the context replaces that of the program, and neither is lost among system messages", async () => {
    const context = await contextOf({ type: "message", message: { role: "system", content: "OF-THE-LOG" } }, user("hi"))
    const own = JSON.stringify(TARGETS[name](context, "OF-THE-PROGRAM"))
    expect(own.indexOf("OF-THE-PROGRAM")).toBeGreaterThan(0)
    expect(own.indexOf("OF-THE-LOG")).toBeGreaterThan(0)
    const replaced = JSON.stringify(TARGETS[name]({ ...context, systemPromptOverride: "OVERRIDE" }, "OF-THE-PROGRAM"))
    expect(replaced).toContain("OVERRIDE")
    expect(replaced).not.toContain("OF-THE-PROGRAM")
    expect(TARGETS[name](context).diagnostics).toEqual([])
  })

  test("the context is not changed", async () => {
    const context = await contextOf(...full)
    const before = structuredClone(context.messages)
    TARGETS[name](context, "s")
    expect(context.messages).toEqual(before)
  })
})

describe("cache marks of Anthropic", () => {
  const marksOf = (value: object) => JSON.stringify(value).split('"cache_control"').length - 1

  test("are at the system prompt, the summary and the last two messages of the user, with the ttl", async () => {
    const session = await newSession()
    await session.append([user("old"), { type: "message", message: { role: "assistant", content: "old" } }])
    const { ids } = await session.append(user("kept"))
    const files = { readFiles: [], modifiedFiles: [] }
    await session.append({
      type: "compaction",
      summary: "S",
      firstKeptEntryId: ids[0] ?? "",
      tokensBefore: 9,
      ...files,
    })
    for (const text of ["one", "two", "three"])
      await session.append([{ type: "message", message: { role: "assistant", content: "yes" } }, user(text)])
    const { request } = toAnthropic(await session.context(), { system: "s", cache: { ttl: "1h" } })
    const control = { type: "ephemeral", ttl: "1h" }
    expect(request.system).toEqual([{ type: "text", text: "s", cache_control: control }])
    expect(request.messages.map(marksOf)).toEqual([1, 0, 0, 0, 1, 0, 1])
    expect(request.messages.at(-1)?.content).toEqual([{ type: "text", text: "three", cache_control: control }])
  })

  test("are four at most, and none without the option", async () => {
    const context = await contextOf(
      user("a"),
      { type: "message", message: { role: "assistant", content: "b" } },
      user("c"),
    )
    expect(marksOf(toAnthropic(context, { system: "s", cache: true }).request)).toBe(3)
    expect(marksOf(toAnthropic(context, { system: "s" }).request)).toBe(0)
  })
})

describe("streams that end early", () => {
  const start = { type: "message_start", message: { id: "m", model: "claude", usage: { input_tokens: 3 } } }
  const events = [
    start,
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "half" } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "c1", name: "rm", input: {} } },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"path":"/' } },
  ]
  async function* stream(list: readonly { type: string }[], error?: Error) {
    yield* list
    if (error !== undefined) throw error
  }

  test("leave what arrived, marked as an error, and reject with the error; no call of theirs is executed or sent", async () => {
    const session = await newSession()
    await session.append(user("clean up"))
    const read = appendAnthropicStream(session, stream(events, new Error("overloaded")))
    await expect(read).rejects.toThrow("overloaded")
    const { messages } = await session.messages({ limit: 1 })
    expect(messages[0]?.message).toMatchObject({ stopReason: "error", errorMessage: "overloaded", usage: { input: 3 } })
    expect(messages[0]?.message.content).toEqual([
      { type: "text", text: "half" },
      { type: PARTIAL_CALL, id: "c1", name: "rm", text: '{"path":"/' },
    ])
    await session.append(user("go on"))
    for (const name of names) {
      const { request, diagnostics } = TARGETS[name](await session.context())
      expect(JSON.stringify(request)).not.toContain("c1")
      expect(diagnostics.map(({ code }) => code)).toEqual(["partial_calls"])
    }
  })

  test("are aborted if the client ends them without an error, or the signal has fired", async () => {
    const session = await newSession()
    expect(await appendAnthropicStream(session, stream(events))).toMatchObject({ stopReason: "aborted" })
    const { signal } = (() => {
      const controller = new AbortController()
      controller.abort()
      return controller
    })()
    await expect(appendAnthropicStream(session, stream(events, new Error("x")), { signal })).rejects.toThrow("x")
    const { messages } = await session.messages({ limit: 1 })
    expect(messages[0]?.message).toMatchObject({ stopReason: "aborted" })
  })

  test("reject if nothing arrived, and append nothing", async () => {
    const session = await newSession()
    await expect(appendAnthropicStream(session, stream([start]))).rejects.toThrow("before anything of it arrived")
    expect((await session.messages()).messages).toEqual([])
  })

  test("keep calls that arrived whole, which get an error result and are not executed", async () => {
    const accumulator = accumulateAnthropic()
    const whole = { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: 'tmp"}' } }
    const session = await newSession()
    const list = [...events, whole, { type: "content_block_stop", index: 1 }]
    for (const event of list) accumulator.add(event)
    const message = await appendAnthropicStream(session, stream(list))
    expect(message.content[1]).toEqual({ type: "toolCall", id: "c1", name: "rm", arguments: { path: "/tmp" } })
    expect(toolCalls(message)).toEqual([])
    const { messages } = toAnthropic(await session.context()).request
    expect(messages.at(-1)?.content).toMatchObject([{ type: "tool_result", tool_use_id: "c1", is_error: true }])
  })

  test("of the Responses API that report a failure reject with its message", async () => {
    const session = await newSession()
    const failed = { type: "response.failed", response: { id: "r", output: [], error: { message: "no capacity" } } }
    const item = { type: "message", id: "m", role: "assistant", status: "in_progress", content: [] }
    const added = { type: "response.output_item.added", output_index: 0, item }
    const delta = { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "half" }
    const read = appendOpenAIResponsesStream(session, stream([added, delta, failed]))
    await expect(read).rejects.toThrow("no capacity")
    const { messages } = await session.messages({ limit: 1 })
    expect(messages[0]?.message).toMatchObject({ stopReason: "error", content: [{ type: "text", text: "half" }] })
  })

  test("of the AI SDK keep the steps that have ended, with the results of their tools", async () => {
    const session = await newSession()
    const parts = [
      { type: "tool-call", toolCallId: "c1", toolName: "see", input: {} },
      { type: "tool-result", toolCallId: "c1", toolName: "see", output: { seen: 1 } },
      { type: "finish-step", finishReason: "tool-calls", usage: { inputTokens: 3 }, response: { modelId: "m" } },
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", text: "half" },
      { type: "error", error: new Error("overloaded") },
    ]
    await expect(appendAiSdkStream(session, stream(parts))).rejects.toThrow("overloaded")
    const { messages } = await session.messages()
    expect(messages.map(({ message }) => [message.role, message["stopReason"]])).toEqual([
      ["assistant", "tool-calls"],
      ["toolResult", undefined],
      ["assistant", "error"],
    ])
  })
})

test("several choices or candidates are refused unless one is chosen", () => {
  const choices = [0, 1].map((index) => ({ index, finish_reason: "stop", message: { content: `n${index}` } }))
  expect(() => fromOpenAIChat({ choices })).toThrow(SessionError)
  expect(fromOpenAIChat({ choices }, { choice: 1 }).message.content).toEqual([{ type: "text", text: "n1" }])
  const candidates = [0, 1].map((index) => ({ index, content: { parts: [{ text: `n${index}` }] } }))
  expect(() => fromGemini({ candidates })).toThrow(SessionError)
  expect(fromGemini({ candidates }, { candidate: 1 }).message.content).toEqual([{ type: "text", text: "n1" }])
  expect(fromGemini({ promptFeedback: { blockReason: "SAFETY" } }).message).toMatchObject({ stopReason: "SAFETY" })
})

test("images that a model has made are named where the provider does not take them back", async () => {
  const made = fromGemini({ candidates: [{ content: { parts: [{ text: "a" }, { inlineData: PNG }] } }] })
  const context = await contextOf(user("draw"), made, user("again"))
  for (const name of names) {
    const { request, diagnostics } = TARGETS[name](context)
    const isSent = name === "gemini" || name === "ai-sdk"
    expect(JSON.stringify(request).includes("AAAA")).toBe(isSent)
    expect(diagnostics.map(({ code }) => code)).toEqual(isSent ? [] : ["images"])
  }
})

test("thinking with a signature of Anthropic goes back to Anthropic, also by the AI SDK, and to no other", async () => {
  const content = [
    { type: "thinking", thinking: "hm", signature: "SIG" },
    { type: "text", text: "yes", citations: null },
  ]
  const context = await contextOf(user("?"), fromAnthropic({ content, stop_reason: "end_turn" }))
  for (const name of names)
    expect(JSON.stringify(TARGETS[name](context).request).includes("SIG")).toBe(
      name === "anthropic" || name === "ai-sdk",
    )
})
