/** What a model has said comes back to it as it was, through a session: whole answers, and streams of them in pieces of any size. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { fromAiSdk, toAiSdk } from "../src/ai-sdk/index.ts"
import { accumulateAnthropic, fromAnthropic, toAnthropic } from "../src/anthropic/index.ts"
import { accumulateGemini, fromGemini, toGemini } from "../src/gemini/index.ts"
import { accumulateOpenAIChat, fromOpenAIChat, toOpenAIChat } from "../src/openai-chat/index.ts"
import { accumulateOpenAIResponses, fromOpenAIResponses, toOpenAIResponses } from "../src/openai-responses/index.ts"
import { numbered, sessionOf } from "./answers.ts"
import { aiSdkPart, anthropicAnswer, chatAnswer, geminiAnswer, output, responsesAnswer } from "./arbitraries.ts"
import { anthropicEvents, chatChunks, geminiChunks, responsesEvents } from "./streams.ts"

const RUNS = { numRuns: Number(process.env["FC_RUNS"] ?? 60) }

test("Anthropic: an answer is in the next request as it was", async () => {
  const property = fc.asyncProperty(fc.array(anthropicAnswer, { minLength: 1, maxLength: 3 }), async (some) => {
    // The API gives each call an id of its own.
    const answers = some.map(
      (answer, i) => JSON.parse(JSON.stringify(answer).replaceAll('"call_', `"${i}_`)) as typeof answer,
    )
    const session = await sessionOf(answers.map(fromAnthropic))
    const { request, diagnostics } = toAnthropic(await session.context())
    const said = request.messages.filter(({ role }) => role === "assistant").map(({ content }) => content)
    expect(said).toEqual(answers.map(({ content }) => content.map(withoutNull)))
    expect(diagnostics).toEqual([])
  })
  await fc.assert(property, RUNS)
})

test("Anthropic: the message of a stream is that of the whole answer", async () => {
  const property = fc.asyncProperty(anthropicAnswer, fc.integer({ min: 1, max: 9 }), async (answer, size) => {
    const accumulator = accumulateAnthropic()
    for (const event of anthropicEvents(answer, size)) accumulator.add(event)
    expect(accumulator.isComplete).toBe(true)
    expect(accumulator.entries()).toEqual([fromAnthropic(answer)])
  })
  await fc.assert(property, RUNS)
})

test("OpenAI chat: an answer is in the next request as it was", async () => {
  const property = fc.asyncProperty(fc.array(chatAnswer, { minLength: 1, maxLength: 3 }), async (answers) => {
    const session = await sessionOf(answers.map((answer) => fromOpenAIChat(answer)))
    const { request, diagnostics } = toOpenAIChat(await session.context())
    const said = request.messages.filter(({ role }) => role === "assistant")
    expect(said).toEqual(answers.map(({ choices }) => ({ content: null, ...withoutNull(choices[0]?.message) })))
    expect(diagnostics).toEqual([])
  })
  await fc.assert(property, RUNS)
})

test("OpenAI chat: the message of a stream is that of the whole answer", async () => {
  const property = fc.asyncProperty(chatAnswer, fc.integer({ min: 1, max: 9 }), async (answer, size) => {
    const accumulator = accumulateOpenAIChat()
    for (const chunk of chatChunks(answer, size)) accumulator.add(chunk)
    expect(accumulator.isComplete).toBe(true)
    expect(accumulator.entries()).toEqual([fromOpenAIChat(answer)])
  })
  await fc.assert(property, RUNS)
})

/** The API gives no id twice. */
function withOwnIds<T>(answer: T, i: number): T {
  return JSON.parse(JSON.stringify(answer).replaceAll(/call_(\d+)"/g, `call_${i}_$1"`)) as T
}

test("OpenAI Responses: the items of an answer are in the next request as they were", async () => {
  const property = fc.asyncProperty(fc.array(responsesAnswer, { minLength: 1, maxLength: 3 }), async (given) => {
    const answers = given.map(withOwnIds)
    const session = await sessionOf(answers.map((answer) => fromOpenAIResponses(answer)))
    const { request, diagnostics } = toOpenAIResponses(await session.context())
    const outputs = new Set(["function_call_output", "custom_tool_call_output"])
    const said = request.input.filter((item) => !outputs.has(item.type) && !("role" in item && item.role === "user"))
    expect(said).toEqual(answers.flatMap(({ output }) => output))
    expect(diagnostics).toEqual([])
  })
  await fc.assert(property, RUNS)
})

test("OpenAI Responses: the message of a stream is that of the whole answer", async () => {
  const property = fc.asyncProperty(responsesAnswer, fc.integer({ min: 1, max: 9 }), async (answer, size) => {
    const accumulator = accumulateOpenAIResponses()
    for (const event of responsesEvents(answer, size)) accumulator.add(event)
    expect(accumulator.isComplete).toBe(true)
    expect(accumulator.entries()).toEqual([fromOpenAIResponses(answer)])
  })
  await fc.assert(property, RUNS)
})

test("Gemini: the parts of an answer are in the next request as they were", async () => {
  const property = fc.asyncProperty(fc.array(geminiAnswer, { minLength: 1, maxLength: 3 }), async (answers) => {
    const session = await sessionOf(answers.map((answer) => fromGemini(answer)))
    const { request, diagnostics } = toGemini(await session.context())
    const said = request.contents.filter(({ role }) => role === "model").map(({ parts }) => parts)
    expect(said).toEqual(answers.map(({ candidates }) => candidates?.[0]?.content?.parts))
    expect(diagnostics).toEqual([])
  })
  await fc.assert(property, RUNS)
})

test("Gemini: the message of a stream is that of the whole answer", async () => {
  const property = fc.asyncProperty(geminiAnswer, fc.integer({ min: 1, max: 9 }), async (answer, size) => {
    const accumulator = accumulateGemini()
    for (const chunk of geminiChunks(answer, size)) accumulator.add(chunk)
    expect(accumulator.isComplete).toBe(true)
    expect(accumulator.entries()).toEqual([fromGemini(answer)])
  })
  await fc.assert(property, RUNS)
})

test("AI SDK: the messages of an answer are in the next request as they were", async () => {
  const parts = fc
    .array(aiSdkPart, { minLength: 1, maxLength: 5 })
    // Reasoning leads to something.
    .filter((some) => some.at(-1)?.type !== "reasoning")
  const property = fc.asyncProperty(parts, fc.array(output, { minLength: 5, maxLength: 5 }), async (said, outputs) => {
    const content = numbered(said, (part, id) => (part.type === "tool-call" ? { ...part, toolCallId: id } : part))
    const results = content.flatMap((part, i) =>
      part.type === "tool-call"
        ? [{ type: "tool-result", toolCallId: part.toolCallId, toolName: part.toolName, output: outputs[i] }]
        : [],
    )
    const messages = [
      { role: "assistant", content },
      ...(results.length === 0 ? [] : [{ role: "tool", content: results }]),
    ]
    const user = [{ role: "user", content: [{ type: "text", text: "go on" }] }]
    const step = {
      model: { provider: "anthropic.messages", modelId: "m" },
      usage: {},
      finishReason: "stop",
      response: {},
    }
    const session = await sessionOf([])
    await session.append(fromAiSdk({ responseMessages: messages, steps: [step] }))
    await session.append({ type: "message", message: { role: "user", content: "go on" } })
    const { request, diagnostics } = toAiSdk(await session.context())
    expect(request.messages).toEqual([...user, ...messages, ...user])
    expect(diagnostics).toEqual([])
  })
  await fc.assert(property, RUNS)
})

function withoutNull(value: object | undefined): object {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([, one]) => one !== null))
}
