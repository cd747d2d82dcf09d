/** A model behind a URL with OpenAI's chat completions, which most servers and local programs support. */
import type { SummarizeRequest } from "@sessions/core/compaction"
import type { AnswerRequest, Model } from "./model.ts"
import { type Delta, fromWire, collect, toWireMessages, toWireTools, type WireMessage } from "./wire.ts"

export interface EndpointSettings {
  /** The full URL, e.g. `http://localhost:11434/v1/chat/completions`. */
  readonly url: string
  readonly model: string
  /** Empty to send none. */
  readonly key: string
  /** In tokens. */
  readonly window: number
}

/** A server that cannot be reached or gives no valid answer. The message is a sentence for the user. */
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
      return fromWire(await collect(deltasOf(await post(settings, body, signal)), onText))
    },
    async summarize({ system, prompt, maxTokens, signal }: SummarizeRequest) {
      const messages: WireMessage[] = [
        { role: "system", content: system },
        { role: "user", content: prompt },
      ]
      const response = await post(settings, { messages, max_tokens: maxTokens, stream: true }, signal)
      const { content, stopReason } = fromWire(await collect(deltasOf(response), () => undefined))
      return stopReason === undefined ? { content } : { content, stopReason }
    },
  }
}

async function post(settings: EndpointSettings, request: object, signal: AbortSignal): Promise<Response> {
  const { url, model, key } = settings
  const headers = { "content-type": "application/json", ...(key === "" ? {} : { authorization: `Bearer ${key}` }) }
  let response: Response
  try {
    response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ model, ...request }), signal })
  } catch (cause) {
    signal.throwIfAborted()
    const message = `${url} cannot be reached. Is the address right, does the server run, and does it let pages of other sites ask (CORS)?`
    throw new EndpointError(message, { cause })
  }
  if (response.ok) return response
  const body = (await response.text()).slice(0, 300)
  throw new EndpointError(`${url} answered ${response.status}${body === "" ? "." : `: ${body}`}`)
}

/** The streamed deltas; a single one if the server does not stream. */
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
    throw new EndpointError("The server's answer is not a chat completion. Is the address complete?", {
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
