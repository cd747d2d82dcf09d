/** A server on loopback in place of the providers: what a provider refuses is an error of its shape, and the rest is answered by the script. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { refusedByAnthropic } from "../validators/anthropic.ts"
import { refusedByDeepSeek } from "../validators/deepseek.ts"
import { refusedByGemini } from "../validators/gemini.ts"
import { refusedByGoogleChat } from "../validators/google-chat.ts"
import { refusedByKimi } from "../validators/kimi.ts"
import { refusedByMistral } from "../validators/mistral.ts"
import { refusedByOpenAIChat } from "../validators/openai-chat.ts"
import { refusedByOpenAIResponses } from "../validators/openai-responses.ts"
import { refusedByOpenRouter } from "../validators/openrouter.ts"
import type { Refusal } from "../validators/shapes.ts"
import { refusedByStrictTemplate } from "../validators/strict-template.ts"
import {
  anthropicAnswer,
  anthropicEventsOf,
  chatAnswer,
  chatEvents,
  type ChatFlavour,
  geminiAnswer,
  geminiEventsOf,
  responsesAnswer,
  responsesEventsOf,
  type Step,
  STEPS,
} from "./answers.ts"

export type Api = ChatFlavour | "responses" | "anthropic" | "gemini"

interface Provider {
  /** `n`: how many answers it has given. */
  refused(body: object, n: number): readonly Pick<Refusal, "rule" | "message">[]
  whole(step: Step, n: number): object
  events(step: Step, n: number): Iterable<object>
}

const chat = (flavour: ChatFlavour, refused: Provider["refused"]): Provider => ({
  refused,
  whole: (step, n) => chatAnswer(flavour, step, n),
  events: (step, n) => chatEvents(flavour, step, n),
})
const given = <T>(n: number, answer: (step: Step, i: number) => T): readonly T[] => STEPS.slice(0, n).map(answer)
const messageOf = (step: Step, n: number) =>
  (chatAnswer("openrouter", step, n) as { choices: [{ message: object }] }).choices[0].message

const signatureOf = (step: Step, n: number) => [`signature ${n}`, step.thinking] as const

/** Over HTTP the system prompt is beside the contents. */
export function asCall(body: object): object {
  const { contents, systemInstruction } = body as Readonly<Record<string, unknown>>
  return { contents, ...(systemInstruction === undefined ? {} : { config: { systemInstruction } }) }
}

const PROVIDERS: Readonly<Record<Api, Provider>> = {
  openai: chat("openai", (body) => refusedByOpenAIChat(body)),
  mistral: chat("mistral", refusedByMistral),
  deepseek: chat("deepseek", refusedByDeepSeek),
  kimi: chat("kimi", refusedByKimi),
  openrouter: chat("openrouter", (body, n) =>
    refusedByOpenRouter(body, { given: given(n, messageOf), needsDetails: true }),
  ),
  google: chat("google", (body, n) =>
    refusedByGoogleChat(body, { given: new Set(given(n, (_, i) => `signature ${i}`)) }),
  ),
  strict: chat("strict", refusedByStrictTemplate),
  responses: {
    refused: (body, n) =>
      refusedByOpenAIResponses(body, { given: given(n, (step, i) => responsesAnswer(step, i).output) }),
    whole: responsesAnswer,
    events: responsesEventsOf,
  },
  anthropic: {
    refused: (body, n) => refusedByAnthropic(body, { signed: new Map(given(n, signatureOf)) }),
    whole: anthropicAnswer,
    events: anthropicEventsOf,
  },
  gemini: {
    refused: (body, n) => refusedByGemini(asCall(body), { given: new Set(given(n, (_, i) => btoa(`signature ${i}`))) }),
    whole: geminiAnswer,
    events: geminiEventsOf,
  },
}

/** One conversation with a provider. */
export interface Channel {
  /** Without a version: what follows it is the client's. */
  readonly url: string
  /** The bodies that were taken. */
  readonly taken: object[]
  readonly refusals: Pick<Refusal, "rule" | "message">[]
}

export interface FakeProviders {
  open(api: Api): Channel
  close(): Promise<void>
}

export async function startProviders(): Promise<FakeProviders> {
  const channels: { readonly api: Api; readonly channel: Channel }[] = []
  const server = createServer((request, response) => {
    const [, index = "", ...path] = (request.url ?? "").split("/")
    const found = channels[Number(index)]
    if (found === undefined) response.writeHead(404).end()
    else void answer(found.api, found.channel, path.join("/"), request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  return {
    open(api) {
      const channel: Channel = { url: `http://127.0.0.1:${port}/${channels.length}`, taken: [], refusals: [] }
      channels.push({ api, channel })
      return channel
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve()
        })
        server.closeAllConnections()
      }),
  }
}

async function answer(
  api: Api,
  { taken, refusals }: Channel,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  const body = JSON.parse(text) as object
  const n = taken.length
  const found = PROVIDERS[api].refused(body, n)
  refusals.push(...found)
  const [first] = found
  const step = STEPS[n]
  if (first !== undefined || step === undefined) {
    const message = first?.message ?? "The script has no more answers."
    response.writeHead(400, { "content-type": "application/json" })
    response.end(JSON.stringify({ type: "error", error: { type: "invalid_request_error", message, code: 400 } }))
    return
  }
  taken.push(body)
  const isStream = path.includes("streamGenerateContent") || ("stream" in body && body.stream === true)
  if (!isStream) {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(PROVIDERS[api].whole(step, n)))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of PROVIDERS[api].events(step, n)) {
    const name = "type" in event ? `event: ${String(event.type)}\n` : ""
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(path.includes("chat/completions") ? "data: [DONE]\n\n" : "")
}
