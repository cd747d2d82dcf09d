/**
 * Requests for each provider of sessions that any provider has answered: answers are cut off anywhere, calls are interrupted, texts are empty.
 * Each call has exactly one result, in the place where the provider wants it.
 */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { toAnthropic } from "../src/anthropic/index.ts"
import { toGemini } from "../src/gemini/index.ts"
import { type Context, toolCalls, toolResult } from "../src/index.ts"
import { toOpenAIChat } from "../src/openai-chat/index.ts"
import { toOpenAIResponses } from "../src/openai-responses/index.ts"
import { newSession } from "./answers.ts"
import { say } from "./sayers.ts"

const RUNS = { numRuns: Number(process.env["FC_RUNS"] ?? 60) }

const turn = fc.record({
  say,
  cut: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(30)),
  fails: fc.boolean(),
  question: fc.constantFrom("go on", "", "  "),
  /** How many of the results are recorded, and of which content. */
  results: fc.nat(4),
  result: fc.constantFrom("ok", "", "\n"),
  isError: fc.boolean(),
  system: fc.boolean(),
})

async function contextOf(turns: readonly (typeof turn extends fc.Arbitrary<infer T> ? T : never)[]): Promise<Context> {
  const session = await newSession()
  for (const { say, cut, fails, question, results, result, isError, system } of turns) {
    await session.append({ type: "message", message: { role: "user", content: question } })
    await say(session, cut, fails)
    const { messages } = await session.messages({ limit: 1 })
    const answer = messages[0]?.message
    if (answer?.role !== "assistant") continue
    for (const call of toolCalls(answer).slice(0, results)) await session.append(toolResult(call, result, { isError }))
    if (system) await session.append({ type: "message", message: { role: "system", content: "be brief" } })
  }
  return session.context({ repair: "none" })
}

function property(check: (context: Context) => void) {
  const turns = fc.array(turn, { minLength: 1, maxLength: 5 })
  return fc.assert(
    fc.asyncProperty(turns, async (list) => check(await contextOf(list))),
    RUNS,
  )
}

type Fields = Record<string, unknown>

test("Anthropic: the results of all calls are at the start of the next message, which is the user's; roles take turns", () =>
  property((context) => {
    const { messages } = toAnthropic(context, { system: "s", cache: true }).request
    for (const [i, { role, content }] of messages.entries()) {
      expect(content.length).toBeGreaterThan(0)
      const blocks = typeof content === "string" ? [] : (content as unknown as Fields[])
      const results = blocks.filter(({ type }) => type === "tool_result")
      const before = messages[i - 1]?.content ?? []
      const calls =
        typeof before === "string" ? [] : (before as unknown as Fields[]).filter(({ type }) => type === "tool_use")
      expect(new Set(results.map((block) => block["tool_use_id"]))).toEqual(new Set(calls.map(({ id }) => id)))
      expect(results).toHaveLength(calls.length)
      expect(blocks.slice(0, results.length)).toEqual(results)
      expect(role === "user" && messages[i - 1]?.role === "user").toBe(false)
      for (const { type, text } of blocks) if (type === "text") expect(String(text).trim()).not.toBe("")
    }
    expect(JSON.stringify(messages.at(-1)?.content ?? "").includes('"type":"tool_use"')).toBe(false)
    expect(JSON.stringify(messages).split("cache_control").length - 1).toBeLessThanOrEqual(3)
  }))

test("OpenAI chat: a tool message for each call directly after the assistant's", () =>
  property((context) => {
    const { messages } = toOpenAIChat(context, { system: "s" }).request
    let open: string[] = []
    for (const message of messages) {
      if (message.role === "tool") {
        expect(open).toContain(message.tool_call_id)
        open = open.filter((id) => id !== message.tool_call_id)
        continue
      }
      expect(open).toEqual([])
      if (message.role === "assistant") open = (message.tool_calls ?? []).map(({ id }) => id)
      if (message.role === "assistant" && open.length === 0)
        expect((message.content ?? message.refusal ?? "").length).toBeGreaterThan(0)
    }
    expect(open).toEqual([])
  }))

test("OpenAI Responses: an output of the right type for each call, and no reasoning without what follows it", () =>
  property((context) => {
    const { input } = toOpenAIResponses(context).request
    const of = (...types: string[]) =>
      input.flatMap((item) => (types.includes(item.type) ? [(item as unknown as Fields)["call_id"]] : []))
    expect(of("function_call_output")).toHaveLength(of("function_call").length)
    expect(of("custom_tool_call_output")).toHaveLength(of("custom_tool_call").length)
    for (const [i, item] of input.entries()) {
      if (item.type === "reasoning") expect(input[i + 1]).not.toMatchObject({ role: "user" })
      if (item.type === "function_call") expect(() => JSON.parse(item.arguments)).not.toThrow()
    }
    expect(input.at(-1)?.type).not.toBe("reasoning")
  }))

test("Gemini: the responses of all calls are the next content, in the order of the calls", () =>
  property((context) => {
    for (const ids of [true, false]) {
      const { contents } = toGemini(context, { ids }).request
      for (const [i, { parts }] of contents.entries()) {
        const responses = parts.flatMap(({ functionResponse }) => functionResponse ?? [])
        const calls = contents[i - 1]?.parts.flatMap(({ functionCall }) => functionCall ?? []) ?? []
        expect(responses.map(({ name, id }) => [name, id])).toEqual(calls.map(({ name, id }) => [name, id]))
        // A content with responses has nothing else.
        if (responses.length > 0) expect(responses).toHaveLength(parts.length)
        expect(parts.length).toBeGreaterThan(0)
      }
      expect(JSON.stringify(contents.at(-1) ?? {})).not.toContain('"functionCall":')
    }
  }))

test("AI SDK: the results of all calls of a message are the next message", () =>
  property((context) => {
    const { messages } = toAiSdk(context).request
    for (const [i, { role, content }] of messages.entries()) {
      const parts = content as unknown as Fields[]
      const before = (messages[i - 1]?.content ?? []) as unknown as Fields[]
      const calls = before.filter(({ type }) => type === "tool-call").map((part) => part["toolCallId"])
      const results = role === "tool" ? parts.map((part) => part["toolCallId"]) : []
      expect(new Set(results)).toEqual(new Set(messages[i - 1]?.role === "assistant" ? calls : []))
    }
  }))
