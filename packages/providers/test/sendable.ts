/** Every receiver: the request that it gets of a context, and what its validator refuses of it. */
import type { Session } from "@sessions/core"
import { shorten } from "@sessions/core/compaction"
import { toAnthropic } from "../src/anthropic/index.ts"
import { toGemini } from "../src/gemini/index.ts"
import type { Context } from "../src/index.ts"
import { type ChatDialect, toOpenAIChat } from "../src/openai-chat/index.ts"
import { toOpenAIResponses } from "../src/openai-responses/index.ts"
import { refusedByAnthropic } from "./validators/anthropic.ts"
import { refusedByDeepSeek } from "./validators/deepseek.ts"
import { refusedByGemini } from "./validators/gemini.ts"
import { refusedByGoogleChat } from "./validators/google-chat.ts"
import { refusedByKimi } from "./validators/kimi.ts"
import { refusedByMistral } from "./validators/mistral.ts"
import { refusedByOpenAIChat } from "./validators/openai-chat.ts"
import { refusedByOpenAIResponses } from "./validators/openai-responses.ts"
import { refusedByOpenRouter } from "./validators/openrouter.ts"
import type { Refusal } from "./validators/shapes.ts"
import { refusedByStrictTemplate } from "./validators/strict-template.ts"

export interface Receiver {
  readonly name: string
  readonly request: (context: Context) => object
  readonly refused: (request: object) => readonly Refusal[]
}

const system = "Be brief."
const chat = (dialect: ChatDialect, refused: Receiver["refused"]): Receiver => ({
  name: `Chat Completions, ${dialect}`,
  request: (context) => toOpenAIChat(context, { system, dialect }).request,
  refused,
})
/** Google documents this text for calls that another model has made. */
const foreignSignature = "skip_thought_signature_validator"

export const RECEIVERS: readonly Receiver[] = [
  {
    name: "Anthropic",
    request: (context) => toAnthropic(context, { system, cache: true }).request,
    refused: (request) => refusedByAnthropic(request),
  },
  {
    name: "Gemini 3",
    request: (context) => toGemini(context, { system, foreignSignature, imagesInResults: true }).request,
    refused: (request) => refusedByGemini(request),
  },
  {
    name: "Gemini 2.5",
    request: (context) => toGemini(context, { system, ids: false }).request,
    refused: (request) => refusedByGemini(request, { model: 2.5, ids: false }),
  },
  {
    name: "Responses",
    request: (context) => ({ model: "gpt-5.1", store: false, ...toOpenAIResponses(context, { system }).request }),
    refused: (request) => refusedByOpenAIResponses(request),
  },
  chat("openai", (request) => refusedByOpenAIChat(request)),
  chat("mistral", (request) => refusedByMistral(request)),
  chat("deepseek", (request) => refusedByDeepSeek(request)),
  chat("kimi", (request) => refusedByKimi(request)),
  chat("gemini", (request) => refusedByGoogleChat(request)),
  chat("openrouter", (request) => refusedByOpenRouter(request)),
  chat("alternating", (request) => refusedByStrictTemplate(request)),
]

export const WAYS = ["as it is", "repaired", "summary as a pair", "pruned"] as const

/** The contexts in which a program may send a session. */
export async function contextOf(session: Session, way: (typeof WAYS)[number]): Promise<Context> {
  if (way === "as it is") return session.context({ repair: "none" })
  if (way === "summary as a pair") return session.context({ summaryAs: "pair" })
  if (way === "pruned") return session.context({ shorten: shorten(), window: 2000 })
  return session.context()
}

/** What each receiver refuses of a context, with the request. */
export function refusals(context: Context, only: readonly Receiver[] = RECEIVERS): readonly object[] {
  return only.flatMap(({ name, request: requestOf, refused }) => {
    const request = requestOf(context)
    return refused(request).map(({ rule, message }) => ({
      name,
      rule,
      message,
      request: JSON.stringify(request).slice(0, 3000),
    }))
  })
}
