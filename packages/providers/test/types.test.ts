/** The requests are the parameters of the providers' clients, and the answers and streams of the clients are arguments: the compiler checks it. */
import type Anthropic from "@anthropic-ai/sdk"
import type { GoogleGenAI } from "@google/genai"
import type { Session } from "@sessions/core"
import type { generateText, ModelMessage, streamText } from "ai"
import { expectTypeOf } from "expect-type"
import type OpenAI from "openai"
import { test } from "vitest"
import { appendAiSdkStream, fromAiSdk, toAiSdk } from "../src/ai-sdk/index.ts"
import { appendAnthropicStream, fromAnthropic, toAnthropic } from "../src/anthropic/index.ts"
import { appendGeminiStream, fromGemini, toGemini } from "../src/gemini/index.ts"
import { appendOpenAIChatStream, CHAT_DIALECTS, fromOpenAIChat, toOpenAIChat } from "../src/openai-chat/index.ts"
import { appendOpenAIResponsesStream, fromOpenAIResponses, toOpenAIResponses } from "../src/openai-responses/index.ts"

// Never called: only compiled.
export async function anthropic(session: Session, client: Anthropic): Promise<void> {
  const { request } = toAnthropic(await session.context(), { system: "s", cache: { ttl: "1h" } })
  const options = { model: "m", max_tokens: 1, tools: [] as Anthropic.Tool[], ...request }
  await session.append(fromAnthropic(await client.messages.create(options)))
  await appendAnthropicStream(session, client.messages.create({ ...options, stream: true }), {
    onEvent: (event) => event.type === "content_block_delta" && event.delta.type,
  })
  await appendAnthropicStream(session, client.messages.stream(options))
}

export async function chat(session: Session, client: OpenAI): Promise<void> {
  const { request } = toOpenAIChat(await session.context(), { systemRole: "developer" })
  const options = { model: "m", tools: [] as OpenAI.ChatCompletionTool[], ...request }
  await session.append(fromOpenAIChat(await client.chat.completions.create(options)))
  await appendOpenAIChatStream(session, client.chat.completions.create({ ...options, stream: true }), {
    onEvent: (chunk) => chunk.choices[0]?.delta.content,
  })
  const own = toOpenAIChat(await session.context(), { dialect: { ...CHAT_DIALECTS.kimi, provider: "my-server" } })
  await session.append(
    fromOpenAIChat(await client.chat.completions.create({ model: "m", ...own.request }), { provider: "my-server" }),
  )
}

export async function responses(session: Session, client: OpenAI): Promise<void> {
  const { request } = toOpenAIResponses(await session.context(), { store: true, provider: "azure" })
  const options = { model: "m", tools: [] as OpenAI.Responses.Tool[], store: false, ...request }
  await session.append(fromOpenAIResponses(await client.responses.create(options)))
  await appendOpenAIResponsesStream(session, client.responses.create({ ...options, stream: true }), {
    onEvent: (event) => event.type === "response.output_text.delta" && event.delta,
  })
}

export async function gemini(session: Session, client: GoogleGenAI): Promise<void> {
  const { request } = toGemini(await session.context(), { ids: false })
  const options = { model: "m", contents: request.contents, config: { ...request.config, tools: [] } }
  await session.append(fromGemini(await client.models.generateContent(options)))
  await appendGeminiStream(session, client.models.generateContentStream(options), { onEvent: ({ text }) => text })
}

export async function aiSdk(
  session: Session,
  generate: typeof generateText,
  stream: typeof streamText,
  model: Parameters<typeof generateText>[0]["model"],
): Promise<void> {
  const { request } = toAiSdk(await session.context())
  expectTypeOf(request.messages).toExtend<ModelMessage[]>()
  await session.append(fromAiSdk(await generate({ model, ...request })))
  await appendAiSdkStream(session, stream({ model, ...request }).stream, {
    onEvent: (part) => part.type === "text-delta" && part.text,
  })
}

test("requests are the parameters of the clients", () => {
  expectTypeOf<ReturnType<typeof toAnthropic>["request"]["messages"]>().toExtend<Anthropic.MessageParam[]>()
  type Chat = ReturnType<typeof toOpenAIChat>["request"]["messages"]
  expectTypeOf<Chat>().toExtend<OpenAI.ChatCompletionMessageParam[]>()
  type Input = ReturnType<typeof toOpenAIResponses>["request"]["input"]
  expectTypeOf<Input>().toExtend<OpenAI.Responses.ResponseInputItem[]>()
})
