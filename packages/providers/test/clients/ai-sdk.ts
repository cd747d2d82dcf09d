/** Models of the AI SDK's own providers, and the bodies that they send. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createDeepSeek } from "@ai-sdk/deepseek"
import { createGoogleGenerativeAI } from "@ai-sdk/google"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { generateText, type LanguageModel, type ToolSet } from "ai"
import { type AiSdkRequest, toAiSdk } from "../../src/ai-sdk/index.ts"
import type { Context } from "../../src/index.ts"
import { refusedByAnthropic } from "../validators/anthropic.ts"
import { refusedByDeepSeek } from "../validators/deepseek.ts"
import { refusedByGemini } from "../validators/gemini.ts"
import { refusedByKimi } from "../validators/kimi.ts"
import { refusedByMistral } from "../validators/mistral.ts"
import { refusedByOpenAIChat } from "../validators/openai-chat.ts"
import { refusedByOpenAIResponses } from "../validators/openai-responses.ts"
import type { Refusal } from "../validators/shapes.ts"
import { type Api, asCall } from "./server.ts"

type Model = Exclude<LanguageModel, string>
export type CallOptions = Pick<Parameters<typeof generateText>[0], "providerOptions">

export interface AiSdkReceiver {
  readonly provider: string
  readonly api: Api
  /** `url`: without a version. */
  readonly model: (o: { readonly url: string; readonly fetch?: typeof fetch }) => Model
  readonly options?: CallOptions
  /** The server stores what it has said: this option of the requests. */
  readonly isStored?: boolean
  readonly refused: (body: object) => readonly Refusal[]
}

const apiKey = "x"

export const AI_SDK: readonly AiSdkReceiver[] = [
  {
    provider: "@ai-sdk/openai, Responses",
    api: "responses",
    model: ({ url, ...o }) => createOpenAI({ apiKey, baseURL: `${url}/v1`, ...o }).responses("gpt-5.1"),
    options: { providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } } },
    refused: (body) => refusedByOpenAIResponses(body),
  },
  {
    provider: "@ai-sdk/openai, Responses that are stored",
    api: "responses",
    model: ({ url, ...o }) => createOpenAI({ apiKey, baseURL: `${url}/v1`, ...o }).responses("gpt-5.1"),
    isStored: true,
    refused: (body) => [...refusedByOpenAIResponses(body), ...notStored(body)],
  },
  {
    provider: "@ai-sdk/openai, Chat Completions",
    api: "openai",
    model: ({ url, ...o }) => createOpenAI({ apiKey, baseURL: `${url}/v1`, ...o }).chat("gpt-5.1"),
    refused: (body) => refusedByOpenAIChat(body),
  },
  {
    provider: "@ai-sdk/anthropic",
    api: "anthropic",
    model: ({ url, ...o }) => createAnthropic({ apiKey, baseURL: `${url}/v1`, ...o })("claude-sonnet-5-5"),
    refused: (body) => refusedByAnthropic(body),
  },
  {
    provider: "@ai-sdk/google",
    api: "gemini",
    model: ({ url, ...o }) =>
      createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta`, ...o })("gemini-3-pro-preview"),
    refused: (body) => refusedByGemini(asCall(body)),
  },
  {
    provider: "@ai-sdk/google, Gemini 2.5",
    api: "gemini",
    model: ({ url, ...o }) => createGoogleGenerativeAI({ apiKey, baseURL: `${url}/v1beta`, ...o })("gemini-2.5-flash"),
    refused: (body) => refusedByGemini(asCall(body), { model: 2.5 }),
  },
  {
    provider: "@ai-sdk/mistral",
    api: "mistral",
    model: ({ url, ...o }) => createMistral({ apiKey, baseURL: `${url}/v1`, ...o })("magistral-medium-latest"),
    refused: (body) => refusedByMistral(body),
  },
  {
    provider: "@ai-sdk/deepseek",
    api: "deepseek",
    model: ({ url, ...o }) => createDeepSeek({ apiKey, baseURL: url, ...o })("deepseek-v4-pro"),
    refused: (body) => refusedByDeepSeek(body),
  },
  {
    provider: "@ai-sdk/openai-compatible, to Kimi",
    api: "kimi",
    model: ({ url, ...o }) => createOpenAICompatible({ name: "kimi", apiKey, baseURL: `${url}/v1`, ...o })("kimi-k2.6"),
    refused: (body) => refusedByKimi(body),
  },
]

/** The server has stored what the SDK has got: nothing of other clients, of answers that were cut off, and of years ago. */
function notStored(body: object): readonly Refusal[] {
  const { input } = body as { readonly input: readonly { readonly type?: string; readonly id?: string }[] }
  return input.flatMap(({ type, id = "" }) =>
    type === "item_reference" && !id.includes("sdk")
      ? [{ rule: "not_found", message: `Item with id '${id}' not found.` } as Refusal]
      : [],
  )
}

/** The body that the SDK sends of a context. Rejects with what the SDK itself refuses. */
export async function bodyOf(
  request: { readonly messages: readonly object[] },
  { model: modelOf, options }: Pick<AiSdkReceiver, "model" | "options">,
  tools: ToolSet = {},
): Promise<object> {
  let body: string | undefined
  const model = modelOf({
    url: "http://127.0.0.1:9",
    fetch: async (_, init) => {
      body = String(init?.body)
      throw new Error("The body is all that is wanted.")
    },
  })
  const failed: unknown = await generateText({
    model,
    maxRetries: 0,
    tools,
    ...options,
    ...(request as AiSdkRequest),
  }).catch((error: unknown) => error)
  if (body === undefined) throw failed
  return JSON.parse(body) as object
}

/** What the SDK and the receiver refuse of a context, with the request. */
export async function refusedOf(context: Context, receiver: AiSdkReceiver): Promise<readonly object[]> {
  const model = receiver.model({ url: "http://127.0.0.1:9" })
  const { request } = toAiSdk(context, { system: "Be brief.", model, store: receiver.isStored ?? false })
  const shown = (one: object) => ({ name: receiver.provider, ...one, request: JSON.stringify(request).slice(0, 3000) })
  try {
    const body = await bodyOf(request, receiver)
    return receiver
      .refused(body)
      .map(({ rule, message }) => shown({ rule, message, body: JSON.stringify(body).slice(0, 3000) }))
  } catch (error) {
    return [shown({ rule: "the SDK itself", message: String(error) })]
  }
}
