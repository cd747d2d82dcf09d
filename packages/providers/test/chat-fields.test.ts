/** Chat Completions: the fields that a compatible provider adds to an answer come back to it, whole or streamed, and to no other one. */
import type { AssistantMessage, NewEntry, Session } from "@sessions/core"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toAnthropic } from "../src/anthropic/index.ts"
import { toGemini } from "../src/gemini/index.ts"
import { toolCalls, toolResult } from "../src/index.ts"
import {
  appendOpenAIChatStream,
  type ChatDialect,
  fromOpenAIChat,
  type OpenAIChatOptions,
  toOpenAIChat,
} from "../src/openai-chat/index.ts"
import { toOpenAIResponses } from "../src/openai-responses/index.ts"
import { runs } from "../../../.config/runs.ts"
import { newSession, text } from "./answers.ts"

type Fields = Record<string, unknown>

const user = (content: string): NewEntry => ({ type: "message", message: { role: "user", content } })
const call = (more: object = {}) => ({
  id: "call_1",
  type: "function",
  function: { name: "w", arguments: "{}" },
  ...more,
})
const whole = (message: object) => ({
  id: "c",
  model: "m",
  choices: [{ index: 0, finish_reason: "tool_calls", message }],
})

async function* chunks(...deltas: object[]) {
  for (const delta of deltas) yield { id: "c", model: "m", choices: [{ index: 0, delta, finish_reason: null }] }
  yield { id: "c", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] }
}

/** A session with a question and a whole answer, whose calls have results. */
async function answered(message: object, provider: string): Promise<Session> {
  const session = await newSession()
  await session.append([user("?"), fromOpenAIChat(whole({ content: null, ...message }), { provider })])
  return withResults(session)
}

async function streamed(provider: string, ...deltas: object[]): Promise<Session> {
  const session = await newSession()
  await session.append(user("?"))
  await appendOpenAIChatStream(session, chunks(...deltas), { provider })
  return withResults(session)
}

async function withResults(session: Session): Promise<Session> {
  const { messages } = await session.messages({ limit: 1 })
  for (const one of toolCalls(messages[0]?.message as AssistantMessage)) await session.append(toolResult(one, "ok"))
  return session
}

async function sentTo(session: Session, o: OpenAIChatOptions): Promise<Fields> {
  const { messages } = toOpenAIChat(await session.context(), o).request
  return messages.find(({ role }) => role === "assistant") as unknown as Fields
}

const DETAILS = [
  { type: "reasoning.text", text: "why", signature: "S", index: 0 },
  { type: "reasoning.encrypted", data: "SIG", id: "call_1", format: "google-gemini-v1", index: 1 },
]
const SIGNATURE = { google: { thought_signature: "SIG" } }

const GIVEN: readonly (readonly [string, OpenAIChatOptions["dialect"], object, readonly object[]])[] = [
  ["deepseek", "deepseek", { reasoning_content: "why" }, [{ reasoning_content: "w" }, { reasoning_content: "hy" }]],
  ["kimi", "kimi", { reasoning_content: "why" }, [{ reasoning_content: "wh" }, { reasoning_content: "y" }]],
  [
    "openrouter",
    "openrouter",
    { reasoning_details: DETAILS },
    [
      { reasoning: "w", reasoning_details: [{ type: "reasoning.text", text: "w", index: 0 }] },
      { reasoning: "hy", reasoning_details: [{ type: "reasoning.text", text: "hy", index: 0 }] },
      { reasoning_details: [{ type: "reasoning.text", text: null, signature: "S", index: 0 }, DETAILS[1]] },
    ],
  ],
  ["google", "gemini", { extra_content: SIGNATURE }, [{ extra_content: SIGNATURE }]],
  [
    "vllm",
    { fields: ["reasoning"], provider: "vllm" },
    { reasoning: "why" },
    [{ reasoning: "w" }, { reasoning: "hy" }],
  ],
  ["copilot", undefined, { reasoning_opaque: "OPAQUE" }, [{ reasoning_opaque: "OPAQUE" }]],
]

test.each(GIVEN)(
  "what %s adds to an answer comes back to it, whole or streamed",
  async (provider, dialect, fields, deltas) => {
    for (const session of [
      await answered({ ...fields, tool_calls: [call()] }, provider),
      await streamed(provider, ...deltas, { tool_calls: [{ index: 0, ...call() }] }),
    ])
      for (const o of typeof dialect === "object"
        ? [{ dialect }]
        : [{}, { provider }, ...(dialect === undefined ? [] : [{ dialect }])]) {
        expect(await sentTo(session, o)).toMatchObject({ ...fields, tool_calls: [call()] })
        const { diagnostics } = toOpenAIChat(await session.context(), o)
        expect(diagnostics.map(({ code }) => code)).not.toContain("thinking")
      }
  },
)

test.each(GIVEN)("what %s adds to an answer goes to no other provider", async (provider, _, fields) => {
  const session = await answered({ ...fields, tool_calls: [call()] }, provider)
  for (const o of [
    { provider: "groq" },
    { provider: "openai" },
    { dialect: "openai" },
    { dialect: "mistral" },
  ] as const)
    expect(Object.keys(await sentTo(session, o)).filter((key) => key in fields)).toEqual([])
  const context = await session.context()
  for (const { request } of [toAnthropic(context), toOpenAIResponses(context), toGemini(context)])
    expect(JSON.stringify(request)).not.toMatch(/why|SIG|OPAQUE/)
})

test("the signature of a thought at a call comes back whole and streamed", async () => {
  const signed = call({ extra_content: SIGNATURE })
  const { function: called, ...begin } = signed
  for (const session of [
    await answered({ tool_calls: [signed] }, "google"),
    await streamed(
      "google",
      { tool_calls: [{ index: 0, ...begin, function: { name: "w", arguments: "" } }] },
      {
        tool_calls: [{ index: 0, function: { arguments: called.arguments } }],
      },
    ),
  ]) {
    expect((await sentTo(session, {}))["tool_calls"]).toEqual([signed])
    expect((await sentTo(session, { dialect: "gemini" }))["tool_calls"]).toEqual([signed])
    expect((await sentTo(session, { dialect: "openai" }))["tool_calls"]).toEqual([call()])
  }
})

test("`reasoning`, which some providers refuse, goes back only to who names it", async () => {
  const session = await answered({ reasoning: "why", tool_calls: [call()] }, "groq")
  expect(await sentTo(session, {})).not.toHaveProperty("reasoning")
  expect(toOpenAIChat(await session.context()).diagnostics.map(({ code }) => code)).toEqual(["thinking"])
})

test("Gemini: the first call of another provider's answer has the text that stands for a signature", async () => {
  const session = await answered({ tool_calls: [call(), { ...call(), id: "call_2" }] }, "openai")
  const stand = { google: { thought_signature: "skip_thought_signature_validator" } }
  expect((await sentTo(session, { dialect: "gemini" }))["tool_calls"]).toEqual([
    call({ extra_content: stand }),
    { ...call(), id: "call_2" },
  ])
})

test("DeepSeek and Kimi: answers without reasoning, such as another provider's, have what each takes for it", async () => {
  const session = await answered({ content: "yes", tool_calls: [call()] }, "openai")
  await session.append([fromOpenAIChat(whole({ content: "done" }), { provider: "openai" }), user("and?")])
  const answers = async (dialect: ChatDialect) =>
    (toOpenAIChat(await session.context(), { dialect }).request.messages as unknown as Fields[])
      .filter(({ role }) => role === "assistant")
      .map((message) => message["reasoning_content"])
  expect(await answers("deepseek")).toEqual(["", ""])
  expect(await answers("kimi")).toEqual([" ", undefined])
})

test("Mistral: thinking among the parts of a content comes back to it, whole and streamed, and is thinking for others", async () => {
  const think = (value: string) => ({ type: "thinking", thinking: [{ type: "text", text: value }] })
  const parts = [think("why"), { type: "text", text: "yes" }]
  for (const session of [
    await answered({ content: parts, tool_calls: [call()] }, "mistral"),
    await streamed(
      "mistral",
      { content: [think("w")] },
      { content: [think("hy")] },
      { content: [{ type: "text", text: "y" }] },
      { content: "es" },
      { tool_calls: [{ index: 0, ...call() }] },
    ),
  ]) {
    expect((await sentTo(session, { dialect: "mistral" }))["content"]).toEqual(parts)
    expect((await sentTo(session, { dialect: "openai" }))["content"]).toBe("yes")
    const { messages } = await session.messages()
    expect(messages[1]?.message.content?.slice(0, 2)).toEqual([
      { type: "thinking", thinking: "why" },
      { type: "text", text: "yes" },
    ])
  }
})

test("parts of an answer that OpenAI does not have go back to their provider, and to no other one", async () => {
  const parts = [
    { type: "text", text: "yes" },
    { type: "reference", reference_ids: [1] },
  ]
  const session = await answered({ content: parts }, "mistral")
  for (const o of [{}, { dialect: "mistral" }] as const) expect((await sentTo(session, o))["content"]).toEqual(parts)
  for (const o of [{ dialect: "openai" }, { dialect: "alternating" }, { provider: "groq" }] as const) {
    expect((await sentTo(session, o))["content"]).toBe("yes")
    expect(toOpenAIChat(await session.context(), o).diagnostics.map(({ code }) => code)).toContain("blocks")
  }
})

test("OpenRouter: details that come in pieces of any length are those of a whole answer, in their order", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(text, fc.boolean()), { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 4 }),
      async (details, size) => {
        const all = details.map(([value, isText], index) =>
          isText ? { type: "reasoning.text", text: value, index } : { type: "reasoning.encrypted", data: value, index },
        )
        const deltas = all.flatMap((detail): object[] => {
          const { text: value } = detail as { text?: string }
          if (value === undefined) return [{ reasoning_details: [detail] }]
          const pieces = Array.from({ length: Math.ceil(value.length / size) }, (_, i) =>
            value.slice(i * size, (i + 1) * size),
          )
          return pieces.map((piece) => ({ reasoning_details: [{ ...detail, text: piece }] }))
        })
        const session = await streamed("openrouter", ...deltas, { content: "yes" })
        expect((await sentTo(session, { dialect: "openrouter" }))["reasoning_details"]).toEqual(all)
      },
    ),
    { numRuns: runs(20) },
  ))

test("an edit of an answer takes its reasoning and signatures with it", async () => {
  const session = await answered(
    { content: "SECRET", reasoning_content: "why", reasoning_details: DETAILS },
    "deepseek",
  )
  const { messages } = await session.context()
  await session.edit(messages[1]?.entryId ?? "", { content: [{ type: "text", text: "clean" }] })
  expect(await sentTo(session, {})).toEqual({ role: "assistant", content: "clean" })
})

test("who names no provider has the fields back by the default and by the dialect", async () => {
  const session = await newSession()
  await session.append([
    user("?"),
    fromOpenAIChat(whole({ content: null, reasoning_content: "why", tool_calls: [call()] })),
  ])
  await withResults(session)
  for (const o of [{}, { dialect: "deepseek" }, { dialect: "kimi" }] as const)
    expect(await sentTo(session, o)).toMatchObject({ reasoning_content: "why" })
})

test("custom tools, refusals and audio are functions and texts for compatible providers", async () => {
  const custom = { id: "c1", type: "custom", custom: { name: "sh", input: "ls" } }
  const audio = { id: "audio_1", data: "AAAA", transcript: "Paris it is.", expires_at: 2_000_000_000 }
  const session = await answered({ refusal: "I will not", audio, tool_calls: [custom] }, "openai")
  expect(await sentTo(session, { dialect: "openai", now: 0 })).toEqual({
    role: "assistant",
    content: null,
    refusal: "I will not",
    audio: { id: "audio_1" },
    tool_calls: [custom],
  })
  for (const dialect of ["kimi", "openrouter", "alternating"] as const)
    expect(await sentTo(session, { dialect })).toMatchObject({
      content: "I will not\n\nParis it is.",
      tool_calls: [{ id: "c1", type: "function", function: { name: "sh", arguments: '{"input":"ls"}' } }],
    })
})

test("audio is sent as its transcript once it has ended, with a diagnostic, and always to another provider", async () => {
  const audio = { id: "audio_1", data: "AAAA", transcript: "Paris it is.", expires_at: 1_700_000_000 }
  const session = await answered({ audio }, "openai")
  await session.append(user("again"))
  const context = await session.context()
  expect(toOpenAIChat(context, { now: 1_699_999_999_000 })).toMatchObject({
    request: { messages: [{ role: "user" }, { audio: { id: "audio_1" } }, { role: "user" }] },
    diagnostics: [],
  })
  const ended = toOpenAIChat(context, { now: 1_700_000_000_000 })
  expect(ended.request.messages[1]).toEqual({ role: "assistant", content: "Paris it is." })
  expect(ended.diagnostics.map(({ code }) => code)).toEqual(["expired"])
  for (const { request } of [toAnthropic(context), toOpenAIResponses(context), toGemini(context)])
    expect(JSON.stringify(request)).toContain("Paris it is.")
})

test("DeepSeek: an image is a text that says so, and is named by entry and rule", async () => {
  const session = await newSession()
  const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const
  const { ids } = await session.append({ type: "message", message: { role: "user", content: [image] } })
  const { request, diagnostics } = toOpenAIChat(await session.context(), { dialect: "deepseek" })
  expect(request.messages).toEqual([{ role: "user", content: expect.stringContaining("image/png") }])
  expect(diagnostics).toMatchObject([{ code: "images", entryId: ids[0] }])
  expect(diagnostics[0]?.message).toContain("DeepSeek takes no images")
})

test("Gemini: results have the names of their calls, which no other receiver gets, and images are neither GIF nor addresses", async () => {
  const session = await newSession()
  const part = { type: "image_url", image_url: { url: "https://example.com/a.png" } }
  const gif = { type: "image", mimeType: "image/gif", data: "R0lGODdh" }
  const content = [{ type: "text", text: "look" }, gif, { type: "openai:part", part }]
  const said = fromOpenAIChat(
    whole({ content: null, tool_calls: [{ ...call(), function: { name: "1a", arguments: "{}" } }] }),
  )
  await session.append([{ type: "message", message: { role: "user", content } } as NewEntry, said])
  await withResults(session)
  const { request, diagnostics } = toOpenAIChat(await session.context(), { dialect: "gemini" })
  const [asked, called, result] = request.messages as unknown as Fields[]
  const name = (called?.["tool_calls"] as { function: { name: string } }[] | undefined)?.[0]?.function.name
  expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  expect(result).toMatchObject({ role: "tool", name })
  expect(JSON.stringify(asked)).not.toMatch(/R0lGODdh|example\.com/)
  expect(diagnostics.filter(({ code }) => code === "images")).toHaveLength(2)
  const other = toOpenAIChat(await session.context(), { dialect: "alternating" }).request.messages
  expect(JSON.stringify(other)).toContain("https://example.com/a.png")
  expect(other.find(({ role }) => role === "tool")).not.toHaveProperty("name")
})

test("arguments that are no JSON object are sent as one", async () => {
  const session = await answered(
    { tool_calls: [{ ...call(), function: { name: "w", arguments: '{"city":' } }] },
    "openai",
  )
  expect((await sentTo(session, {}))["tool_calls"]).toEqual([
    { ...call(), function: { name: "w", arguments: JSON.stringify({ input: '{"city":' }) } },
  ])
})
