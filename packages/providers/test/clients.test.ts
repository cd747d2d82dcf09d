/** The providers' own clients against their validators on loopback: what is sent is taken, and what is answered is kept, streamed or whole. */
import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import { Mistral } from "@mistralai/mistralai"
import type { ModelMessage } from "@sessions/core"
import OpenAI from "openai"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { appendAnthropicStream, fromAnthropic, toAnthropic } from "../src/anthropic/index.ts"
import { appendGeminiStream, fromGemini, toGemini } from "../src/gemini/index.ts"
import {
  appendOpenAIChatStream,
  type ChatAnswer,
  type ChatChunk,
  type ChatDialect,
  fromOpenAIChat,
  toOpenAIChat,
} from "../src/openai-chat/index.ts"
import { appendOpenAIResponsesStream, fromOpenAIResponses, toOpenAIResponses } from "../src/openai-responses/index.ts"
import type { ProviderRequest } from "../src/index.ts"
import { newSession } from "./answers.ts"
import { type Ask, complete, converse, kept, type Mode, user } from "./clients/loops.ts"
import { type Api, type FakeProviders, startProviders } from "./clients/server.ts"

const system = "Be brief."
/** What is sent of a request with its diagnostics. */
type Sent = <R>(made: ProviderRequest<R>) => R

const schema = { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] }

function chat(dialect: ChatDialect) {
  return (url: string, mode: Mode, sent: Sent): Ask => {
    const client = new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 })
    const tools = [{ type: "function" as const, function: { name: "weather", parameters: schema } }]
    return async (session, context) => {
      const request = { model: "model", tools, ...sent(toOpenAIChat(context, { system, dialect })) }
      const o = { provider: dialect }
      if (mode === "whole") return kept(session, fromOpenAIChat(await client.chat.completions.create(request), o))
      return appendOpenAIChatStream(session, client.chat.completions.create({ ...request, stream: true }), o)
    }
  }
}

function responses(url: string, mode: Mode, sent: Sent): Ask {
  const client = new OpenAI({ apiKey: "x", baseURL: `${url}/v1`, maxRetries: 0 })
  const tools = [{ type: "function" as const, name: "weather", parameters: schema, strict: false }]
  const stored = { store: false, include: ["reasoning.encrypted_content" as const] }
  return async (session, context) => {
    const request = { model: "gpt-5.1", tools, ...stored, ...sent(toOpenAIResponses(context, { system })) }
    if (mode === "whole") return kept(session, fromOpenAIResponses(await client.responses.create(request)))
    return appendOpenAIResponsesStream(session, client.responses.create({ ...request, stream: true }))
  }
}

function anthropic(url: string, mode: Mode, sent: Sent): Ask {
  const client = new Anthropic({ apiKey: "x", baseURL: url, maxRetries: 0 })
  const tools = [{ name: "weather", input_schema: schema }]
  return async (session, context) => {
    const request = {
      model: "claude",
      max_tokens: 99,
      tools,
      ...sent(toAnthropic(context, { system, cache: true })),
    }
    if (mode === "whole") return kept(session, fromAnthropic(await client.messages.create(request)))
    return appendAnthropicStream(session, client.messages.create({ ...request, stream: true }))
  }
}

function gemini(url: string, mode: Mode, sent: Sent): Ask {
  const client = new GoogleGenAI({ apiKey: "x", httpOptions: { baseUrl: url } })
  const tools = [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: schema }] }]
  return async (session, context) => {
    const { contents, config } = sent(toGemini(context, { system }))
    const request = { model: "gemini-3-pro", contents, config: { ...config, tools } }
    if (mode === "whole") return kept(session, fromGemini(await client.models.generateContent(request)))
    return appendGeminiStream(session, client.models.generateContentStream(request))
  }
}

/** Mistral's client has the fields of the API in camel case. */
function mistral(url: string, mode: Mode, sent: Sent): Ask {
  const client = new Mistral({ apiKey: "x", serverURL: url, retryConfig: { strategy: "none" } })
  const tools = [{ type: "function" as const, function: { name: "weather", parameters: schema } }]
  const o = { provider: "mistral" }
  return async (session, context) => {
    const { messages } = sent(toOpenAIChat(context, { system, dialect: "mistral" }))
    const request = { model: "magistral-medium-latest", tools, messages: renamed(messages, camel) as MistralMessages }
    if (mode === "whole")
      return kept(session, fromOpenAIChat(renamed(await client.chat.complete(request), snake) as ChatAnswer, o))
    const events = await client.chat.stream(request)
    async function* chunks() {
      for await (const { data } of events) yield renamed(data, snake) as ChatChunk
    }
    return appendOpenAIChatStream(session, chunks(), o)
  }
}
type MistralMessages = Parameters<Mistral["chat"]["complete"]>[0]["messages"]

const camel = (key: string) => key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const snake = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function renamed(value: unknown, name: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => renamed(one, name))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [name(key), renamed(one, name)]))
}

interface Client {
  readonly client: string
  readonly api: Api
  readonly ask: (url: string, mode: Mode, sent: Sent) => Ask
  /** It fills whole answers up with defaults that streams do not have, which are kept in \`native\`. */
  readonly fillsUp?: true
}

const CLIENTS: readonly Client[] = [
  { client: "openai, Chat Completions", api: "openai", ask: chat("openai") },
  { client: "openai, Responses", api: "responses", ask: responses },
  { client: "openai, to Mistral", api: "mistral", ask: chat("mistral") },
  { client: "openai, to DeepSeek", api: "deepseek", ask: chat("deepseek") },
  { client: "openai, to Kimi", api: "kimi", ask: chat("kimi") },
  { client: "openai, to OpenRouter", api: "openrouter", ask: chat("openrouter") },
  { client: "openai, to Google", api: "google", ask: chat("gemini") },
  { client: "openai, to a strict template", api: "strict", ask: chat("alternating") },
  { client: "@mistralai/mistralai", api: "mistral", ask: mistral, fillsUp: true },
  { client: "@anthropic-ai/sdk", api: "anthropic", ask: anthropic },
  { client: "@google/genai", api: "gemini", ask: gemini },
]

let providers: FakeProviders
beforeAll(async () => {
  providers = await startProviders()
})
afterAll(() => providers.close())

describe.each(CLIENTS)("$client", ({ api, ask, fillsUp }) => {
  const talk = async (mode: Mode) => {
    const channel = providers.open(api)
    const messages = await converse(ask(channel.url, mode, complete))
    expect(channel.refusals).toEqual([])
    expect(channel.taken).toHaveLength(4)
    const said = messages.map(({ message }) => message)
    return fillsUp === true ? withoutNative(said) : said
  }

  test("each request of two questions with thinking and parallel calls is taken, and stream and whole leave the same", async () => {
    expect(await talk("streamed")).toEqual(await talk("whole"))
  })
})

function withoutNative(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, one: unknown) => (key === "native" ? undefined : one)))
}

describe("a conversation that another provider has begun", () => {
  let begun: readonly { readonly client: string; readonly of: Api; readonly messages: readonly ModelMessage[] }[]
  beforeAll(async () => {
    begun = await Promise.all(
      CLIENTS.map(async ({ client, api, ask }) => {
        const items = await converse(ask(providers.open(api).url, "whole", complete))
        return { client, of: api, messages: items.map(({ message }) => message) }
      }),
    )
  })

  test.each(CLIENTS)("is taken from $client", async ({ api, ask }) => {
    for (const { client, of, messages } of begun) {
      if (of === api) continue
      const channel = providers.open(api)
      const session = await newSession()
      await session.append([...messages.map((message) => ({ type: "message" as const, message })), user("And now?")])
      await ask(channel.url, "whole", ({ request }) => request)(session, await session.context())
      expect(channel, client).toMatchObject({ refusals: [], taken: [{}] })
    }
  })
})

test("a request that the provider refuses is the client's error, with the provider's sentence", async () => {
  const channel = providers.open("openai")
  const client = new OpenAI({ apiKey: "x", baseURL: `${channel.url}/v1`, maxRetries: 0 })
  const messages = [{ role: "tool" as const, tool_call_id: "call_1", content: "x" }]
  await expect(client.chat.completions.create({ model: "model", messages })).rejects.toThrow(
    "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
  )
  expect(channel.refusals.map(({ rule }) => rule)).toEqual(["orphan"])
})
