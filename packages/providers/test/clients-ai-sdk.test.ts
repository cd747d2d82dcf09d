/** The AI SDK's own providers against the validators on loopback: contexts of a session are taken, after streams and after whole answers. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createDeepSeek } from "@ai-sdk/deepseek"
import { createGoogleGenerativeAI } from "@ai-sdk/google"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { Session } from "@sessions/core"
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { appendAiSdkStream, fromAiSdk, toAiSdk } from "../src/ai-sdk/index.ts"
import { newSession } from "./answers.ts"
import { complete, type Mode, user } from "./clients/loops.ts"
import { type Api, type FakeProviders, startProviders } from "./clients/server.ts"

type Model = Exclude<LanguageModel, string>
const apiKey = "x"

const MODELS: readonly {
  readonly provider: string
  readonly api: Api
  readonly model: (url: string) => Model
  readonly providerOptions?: Parameters<typeof generateText>[0]["providerOptions"]
}[] = [
  {
    provider: "@ai-sdk/openai, Responses",
    api: "responses",
    model: (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).responses("gpt-5.1"),
    providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
  },
  {
    provider: "@ai-sdk/openai, Chat Completions",
    api: "openai",
    model: (url) => createOpenAI({ apiKey, baseURL: `${url}/v1` }).chat("gpt-5.1"),
  },
  {
    provider: "@ai-sdk/anthropic",
    api: "anthropic",
    model: (url) => createAnthropic({ apiKey, baseURL: `${url}/v1` })("claude-sonnet-5-5"),
  },
  {
    provider: "@ai-sdk/google",
    api: "gemini",
    model: (url) => createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta` })("gemini-3-pro-preview"),
  },
  {
    provider: "@ai-sdk/mistral",
    api: "mistral",
    model: (url) => createMistral({ apiKey, baseURL: `${url}/v1` })("magistral-medium-latest"),
  },
  {
    provider: "@ai-sdk/deepseek",
    api: "deepseek",
    model: (url) => createDeepSeek({ apiKey, baseURL: url })("deepseek-v4-pro"),
  },
  {
    provider: "@ai-sdk/openai-compatible, to Kimi",
    api: "kimi",
    model: (url) => createOpenAICompatible({ name: "kimi", apiKey, baseURL: `${url}/v1` })("kimi-k2.6"),
  },
]

const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  }),
  execute: ({ city }) => `sunny in ${city}`,
})

let providers: FakeProviders
beforeAll(async () => {
  providers = await startProviders()
})
afterAll(() => providers.close())

describe.each(MODELS)("$provider", ({ api, model: modelOf, providerOptions }) => {
  /** One step at a time, so that each request is made of the session. */
  async function step(session: Session, model: Model, mode: Mode): Promise<boolean> {
    const request = {
      model,
      tools: { weather },
      stopWhen: stepCountIs(1),
      maxRetries: 0,
      ...(providerOptions === undefined ? {} : { providerOptions }),
      // The SDK's receivers are not known to us, so that ids are sent which all of them take: Kimi's have a colon.
      ...complete(toAiSdk(await session.context(), { system: "Be brief." }), api === "kimi" ? ["ids"] : []),
    }
    if (mode === "whole") {
      const result = await generateText(request)
      await session.append(fromAiSdk(result))
      return result.toolCalls.length > 0
    }
    const result = streamText(request)
    await appendAiSdkStream(session, result.stream, { model })
    return (await result.toolCalls).length > 0
  }

  async function talk(mode: Mode) {
    const channel = providers.open(api)
    const model = modelOf(channel.url)
    const session = await newSession()
    await session.append(user("What is the weather in Paris, Rome and Oslo?"))
    while (await step(session, model, mode));
    await session.append(user("Thank you."))
    await step(session, model, mode)
    expect(channel.refusals).toEqual([])
    expect(channel.taken).toHaveLength(4)
    return channel.taken.map(comparable)
  }

  test("each request of two questions with thinking and parallel calls is taken, the same ones after streams and whole answers", async () => {
    expect(await talk("streamed")).toEqual(await talk("whole"))
  })
})

/** What the context is: not the tools, nor what asks for a stream. The SDK names Gemini's calls, which have no ids, by chance. */
function comparable(body: object): unknown {
  const { stream: _, stream_options: __, tools: ___, ...rest } = body as Readonly<Record<string, unknown>>
  return JSON.parse(JSON.stringify(rest), (key, value: unknown) => (key === "id" && "contents" in rest ? "id" : value))
}
