/** A model behind an address that speaks OpenAI's chat completions, as most servers and local programs do. */
import type { SummarizeRequest } from "@sessions/core"
import type { AnswerRequest, Model } from "./model.ts"
import { type Delta, fromWire, gather, toWireMessages, toWireTools, type WireMessage } from "./wire.ts"

export interface EndpointSettings {
  /** Whole, e.g. `http://localhost:11434/v1/chat/completions`. */
  readonly url: string
  readonly model: string
  /** Empty: none is sent. */
  readonly key: string
  /** Tokens. */
  readonly window: number
}

/** An address that did not answer, or not with an answer. The message is a sentence for people. */
export class EndpointError extends Error {
  override readonly name = "EndpointError"
}

export function createEndpoint(settings: EndpointSettings): Model {
  return {
    provider: new URL(settings.url).host,
    name: settings.model,
    window: settings.window,
    async answer({ messages, tools, signal, onText }: AnswerRequest) {
      const body = { messages: toWireMessages(messages), tools: toWireTools(tools), stream: true }
      return fromWire(await gather(deltasOf(await post(settings, body, signal)), onText))
    },
    async summarize({ system, prompt, maxTokens, signal }: SummarizeRequest) {
      const messages: WireMessage[] = [
        { role: "system", content: system },
        { role: "user", content: prompt },
      ]
      const response = await post(settings, { messages, max_tokens: maxTokens, stream: true }, signal)
      const { content, stopReason } = fromWire(await gather(deltasOf(response), () => undefined))
      return stopReason === undefined ? { content } : { content, stopReason }
    },
  }
}

async function post(settings: EndpointSettings, body: object, signal: AbortSignal): Promise<Response> {
  const { url, model, key } = settings
  const headers = { "content-type": "application/json", ...(key === "" ? {} : { authorization: `Bearer ${key}` }) }
  let response: Response
  try {
    response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ model, ...body }), signal })
  } catch (cause) {
    signal.throwIfAborted()
    const message = `${url} cannot be reached. Is the address right, does the server run, and does it let pages of other sites ask (CORS)?`
    throw new EndpointError(message, { cause })
  }
  if (response.ok) return response
  const said = (await response.text()).slice(0, 300)
  throw new EndpointError(`${url} answered ${response.status}${said === "" ? "." : `: ${said}`}`)
}

/** What the server sends piece by piece; one that does not stream sends all in one. */
async function* deltasOf(response: Response): AsyncGenerator<Delta, void, undefined> {
  if (response.headers.get("content-type")?.includes("text/event-stream") !== true) {
    yield choiceOf(await response.text())
    return
  }
  for await (const line of linesOf(response)) {
    if (!line.startsWith("data:")) continue
    const data = line.slice(5).trim()
    if (data === "[DONE]") return
    yield choiceOf(data)
  }
}

function choiceOf(text: string): Delta {
  let parsed: { error?: { message?: string }; choices?: { delta?: object; message?: object; finish_reason?: string }[] }
  try {
    parsed = JSON.parse(text) as typeof parsed
  } catch (cause) {
    throw new EndpointError("The server answered something that is no chat completion. Is the address whole?", {
      cause,
    })
  }
  if (parsed?.error !== undefined) throw new EndpointError(`The server said: ${parsed.error.message ?? text}`)
  const choice = parsed?.choices?.[0]
  const finish = choice?.finish_reason
  return { ...(choice?.delta ?? choice?.message), ...(typeof finish === "string" ? { finish } : {}) }
}

async function* linesOf({ body }: Response): AsyncGenerator<string, void, undefined> {
  if (body === null) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const lines = (rest + value).split(/\r?\n/)
      rest = lines.pop() ?? ""
      yield* lines
    }
    if (rest !== "") yield rest
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}
