/**
 * A server on loopback that stands in for the providers: to a question with the tool `weather` it answers with a call, to the result and to other questions
 * with a text. The events are typed by the providers' clients. It refuses a request whose last result is not that of its call, and
 * one of more than 20,000 characters in the words of its provider.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type Anthropic from "@anthropic-ai/sdk"
import type { GenerateContentResponse } from "@google/genai"
import type OpenAI from "openai"

/** `variables` are those of the environment with which the clients ask this server. */
export async function startFakeServer(): Promise<{
  readonly server: Server
  readonly variables: Readonly<Record<string, string>>
}> {
  const server = createServer((request, response) => {
    void answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" ? address?.port : undefined
  const url = `http://127.0.0.1:${port}`
  const variables = {
    ANTHROPIC_API_KEY: "x",
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: "x",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_AGENTS_DISABLE_TRACING: "1",
    GEMINI_API_KEY: "x",
    GOOGLE_GEMINI_BASE_URL: url,
  }
  return { server, variables }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url = "" } = request
  const body = await textOf(request)
  if (body.length > 4 * MAX_TOKENS) {
    response.writeHead(400, { "content-type": "application/json" })
    response.end(JSON.stringify(tooLong(url, Math.ceil(body.length / 4))))
    return
  }
  const hasTool = body.includes('"weather"')
  const isResult = body.includes("weather in Paris: sunny")
  const isAnswered = isResult || !hasTool
  // The result comes with its call. Gemini's calls have no ids here.
  const [asked] = isResult ? body.split("weather in Paris: sunny") : [""]
  const isPaired = url.includes("Content") ? body.includes("functionCall") : asked?.includes("call_1") === true
  if (isResult && !isPaired) {
    response.writeHead(400).end("a result without its call")
    return
  }
  const text = hasTool ? SUNNY : (ANSWERS.find(([question]) => body.includes(question))?.[1] ?? SUNNY)
  if (!/"stream": ?true/.test(body) && !url.includes("stream")) {
    const ended = responses(isAnswered, text).find(({ type }) => type === "response.completed")
    const whole = url.includes("/messages") ? anthropicAnswer(text) : ended && "response" in ended && ended.response
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(whole))
    return
  }
  response.writeHead(200, { "content-type": "text/event-stream" })
  for (const event of eventsOf(url, isAnswered, text)) {
    const name = "type" in event ? `event: ${String(event.type)}\n` : ""
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(url.includes("chat") ? "data: [DONE]\n\n" : "")
}

const MAX_TOKENS = 5_000

function tooLong(url: string, tokens: number): object {
  const type = "invalid_request_error"
  if (url.includes("/messages"))
    return { type: "error", error: { type, message: `prompt is too long: ${tokens} tokens > ${MAX_TOKENS} maximum` } }
  if (url.includes("Content")) {
    const message = `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${MAX_TOKENS}).`
    return { error: { code: 400, message, status: "INVALID_ARGUMENT" } }
  }
  const message = `This model's maximum context length is ${MAX_TOKENS} tokens. However, your messages resulted in ${tokens} tokens.`
  return { error: { message, type, param: "messages", code: "context_length_exceeded" } }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ""
  for await (const chunk of request) text += String(chunk)
  return text
}

function eventsOf(url: string, isAnswered: boolean, text: Text): readonly object[] {
  if (url.includes("/chat/completions")) return chat(isAnswered, text)
  if (url.includes("/responses")) return responses(isAnswered, text)
  return url.includes("/messages") ? anthropic(isAnswered, text) : gemini(isAnswered, text)
}

/** The pieces of an answer. */
type Text = readonly string[]
const SUNNY: Text = ["It is sunny", " in Paris."]
const ANSWERS: readonly (readonly [question: string, answer: Text])[] = [
  ["Where is Paris?", ["In ", "France."]],
  ["What is six times seven?", ["Forty-", "two."]],
]
const ARGUMENTS = ['{"city"', ':"Paris"}']

const MESSAGE = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  usage: {
    input_tokens: 9,
    output_tokens: 1,
    cache_creation: null,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    inference_geo: null,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: "standard",
  },
}

function anthropicAnswer(answer: Text): object {
  return {
    ...MESSAGE,
    content: [{ type: "text", text: answer.join("") }],
    stop_reason: "end_turn",
    stop_sequence: null,
  }
}

function anthropic(isAnswered: boolean, answer: Text): readonly Anthropic.RawMessageStreamEvent[] {
  const start = { ...MESSAGE, content: [], stop_reason: null, stop_sequence: null } as unknown as Anthropic.Message
  const block = isAnswered
    ? ({ type: "text", text: "", citations: null } as const)
    : ({ type: "tool_use", id: "call_1", name: "weather", input: {}, caller: { type: "direct" } } as const)
  const deltas: readonly Anthropic.RawContentBlockDelta[] = isAnswered
    ? answer.map((text) => ({ type: "text_delta", text }))
    : ARGUMENTS.map((json) => ({ type: "input_json_delta", partial_json: json }))
  const end = { stop_reason: isAnswered ? "end_turn" : "tool_use", stop_sequence: null }
  return [
    { type: "message_start", message: start },
    { type: "content_block_start", index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: "content_block_delta" as const, index: 0, delta })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: end, usage: { output_tokens: 5 } } as unknown as Anthropic.RawMessageDeltaEvent,
    { type: "message_stop" },
  ]
}

function chat(isAnswered: boolean, answer: Text): readonly OpenAI.ChatCompletionChunk[] {
  const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "gpt" } as const
  type Choice = OpenAI.ChatCompletionChunk.Choice
  const chunk = (delta: Choice["delta"], finish: Choice["finish_reason"] = null): OpenAI.ChatCompletionChunk => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const call = { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: "" } } as const
  const deltas: readonly Choice["delta"][] = isAnswered
    ? answer.map((content) => ({ content }))
    : [
        { tool_calls: [call] },
        ...ARGUMENTS.map((args) => ({ tool_calls: [{ index: 0, function: { arguments: args } }] })),
      ]
  return [
    chunk({ role: "assistant", content: "" }),
    ...deltas.map((delta) => chunk(delta)),
    chunk({}, isAnswered ? "stop" : "tool_calls"),
    { ...base, choices: [], usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 } },
  ]
}

function responses(isAnswered: boolean, answer: Text): readonly OpenAI.Responses.ResponseStreamEvent[] {
  const args = ARGUMENTS.join("")
  const call = { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather" } as const
  const text = { type: "output_text", text: answer.join(""), annotations: [] } as const
  const message = { type: "message", id: "msg_1", role: "assistant" } as const
  const done = isAnswered
    ? { ...message, status: "completed" as const, content: [{ ...text, annotations: [] }] }
    : { ...call, arguments: args, status: "completed" as const }
  const added = isAnswered
    ? { ...message, status: "in_progress" as const, content: [] }
    : { ...call, arguments: "", status: "in_progress" as const }
  const usage = { input_tokens: 9, output_tokens: 5, total_tokens: 14 }
  const response = { id: "resp_1", object: "response", model: "gpt", error: null, incomplete_details: null }
  const started = { ...response, status: "in_progress", output: [] } as unknown as OpenAI.Responses.Response
  const ended = { ...response, status: "completed", output: [done], usage } as unknown as OpenAI.Responses.Response
  const at = { output_index: 0, item_id: done.id }
  let sequence_number = 1
  const deltas = isAnswered
    ? answer.map((delta) => ({
        type: "response.output_text.delta" as const,
        content_index: 0,
        logprobs: [],
        delta,
        ...at,
      }))
    : ARGUMENTS.map((delta) => ({ type: "response.function_call_arguments.delta" as const, delta, ...at }))
  return [
    { type: "response.created", sequence_number: 0, response: started },
    { type: "response.output_item.added", sequence_number: sequence_number++, output_index: 0, item: added },
    ...deltas.map((delta) => ({ ...delta, sequence_number: sequence_number++ })),
    { type: "response.output_item.done", sequence_number: sequence_number++, output_index: 0, item: done },
    { type: "response.completed", sequence_number: sequence_number++, response: ended },
  ]
}

function gemini(isAnswered: boolean, answer: Text): readonly Partial<GenerateContentResponse>[] {
  const parts = isAnswered
    ? answer.map((text) => ({ text }))
    : [{ functionCall: { name: "weather", args: { city: "Paris" } }, thoughtSignature: "c2lnbmVk" }]
  const chunks = parts.map((part) => ({ candidates: [{ index: 0, content: { role: "model", parts: [part] } }] }))
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 }
  const end = { candidates: [{ index: 0, finishReason: "STOP" }], usageMetadata }
  return [...chunks, end].map((chunk) => ({
    ...chunk,
    responseId: "r1",
    modelVersion: "gemini",
  })) as Partial<GenerateContentResponse>[]
}
