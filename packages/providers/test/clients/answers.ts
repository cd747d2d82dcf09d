/**
 * The answers of a conversation in the shapes of each API, whole and streamed: two calls in parallel, one more call, a text, and an answer to the
 * next question. All but the last have thinking.
 */
import type Anthropic from "@anthropic-ai/sdk"
import type { GenerateContentResponse } from "@google/genai"
import type OpenAI from "openai"
import { anthropicEvents, geminiChunks, responsesEvents } from "../streams.ts"

export interface Step {
  readonly thinking: string
  readonly text: string
  readonly cities: readonly string[]
}

export const STEPS: readonly Step[] = [
  { thinking: "I must look up two cities.", text: "I look.", cities: ["Paris", "Rome"] },
  { thinking: "One city is left.", text: "", cities: ["Oslo"] },
  { thinking: "Now I know all three.", text: "It is sunny in all of them.", cities: [] },
  { thinking: "", text: "You are welcome.", cities: [] },
]

/** Characters in each piece of a stream. */
const SIZE = 7

function* pieces(text: string): Generator<string> {
  for (let i = 0; i < text.length; i += SIZE) yield text.slice(i, i + SIZE)
}

const argumentsOf = (city: string) => JSON.stringify({ city })
/** Each call of the conversation has a number of its own. */
const numberOf = (n: number, i: number) => n * 2 + i + 1

export type ChatFlavour = "openai" | "mistral" | "deepseek" | "kimi" | "openrouter" | "google" | "strict"

/** Ids as each provider makes them. */
const CALL_IDS: Readonly<Record<ChatFlavour, (k: number) => string>> = {
  openai: (k) => `call_abcdefghijklmnopqrstuvw${k}`,
  mistral: (k) => `D681PevK${k}`,
  deepseek: (k) => `call_00_abcdefghijklmnopqrstuvw${k}`,
  kimi: (k) => `weather:${k}`,
  openrouter: (k) => `tool_0_weather_${k}`,
  google: (k) => `function-call-${k}`,
  strict: (k) => `call${k}`,
}

interface ChatExtras {
  readonly content?: unknown
  readonly [field: string]: unknown
}

function extrasOf(flavour: ChatFlavour, { thinking, text, cities }: Step, n: number): ChatExtras {
  if (thinking === "") return {}
  const id = CALL_IDS.openrouter(numberOf(n, 0))
  switch (flavour) {
    case "deepseek":
    case "kimi":
      return { reasoning_content: thinking }
    case "mistral": {
      const chunk = { type: "thinking", thinking: [{ type: "text", text: thinking }] }
      return { content: text === "" ? [chunk] : [chunk, { type: "text", text }] }
    }
    case "openrouter":
      return {
        reasoning: thinking,
        reasoning_details: [
          { type: "reasoning.text", text: thinking, format: "google-gemini-v1", index: 0 },
          ...(cities.length === 0
            ? []
            : [{ type: "reasoning.encrypted", data: `signature ${n}`, id, format: "google-gemini-v1", index: 1 }]),
        ],
      }
    default:
      return {}
  }
}

/** Google signs the first call of an answer. */
const signed = (flavour: ChatFlavour, n: number, i: number) =>
  flavour === "google" && i === 0 ? { extra_content: { google: { thought_signature: `signature ${n}` } } } : {}

export function chatAnswer(flavour: ChatFlavour, step: Step, n: number): object {
  const calls = step.cities.map((city, i) => ({
    id: CALL_IDS[flavour](numberOf(n, i)),
    type: "function",
    function: { name: "weather", arguments: argumentsOf(city) },
    ...signed(flavour, n, i),
  }))
  const message = {
    role: "assistant",
    content: step.text === "" && flavour === "openai" ? null : step.text,
    ...(flavour === "openai" ? { refusal: null } : {}),
    ...extrasOf(flavour, step, n),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return {
    id: `chatcmpl-${n}`,
    object: "chat.completion",
    created: 1,
    model: "model",
    choices: [{ index: 0, message, finish_reason: calls.length === 0 ? "stop" : "tool_calls" }],
    usage: { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 },
  }
}

export function* chatEvents(flavour: ChatFlavour, step: Step, n: number): Generator<object> {
  const base = { id: `chatcmpl-${n}`, object: "chat.completion.chunk", created: 1, model: "model" }
  const chunk = (delta: object, finish: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  yield chunk({ role: "assistant", content: "" })
  const { content: _, reasoning_details: details, ...texts } = extrasOf(flavour, step, n)
  if (flavour === "mistral")
    for (const text of pieces(step.thinking))
      yield chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] })
  for (const [field, text] of Object.entries(texts))
    for (const piece of pieces(String(text))) yield chunk({ [field]: piece })
  for (const detail of Array.isArray(details) ? (details as { text?: string }[]) : []) {
    if (detail.text === undefined) yield chunk({ reasoning_details: [detail] })
    else for (const text of pieces(detail.text)) yield chunk({ reasoning_details: [{ ...detail, text }] })
  }
  for (const content of pieces(step.text)) yield chunk({ content })
  for (const [index, city] of step.cities.entries()) {
    const id = CALL_IDS[flavour](numberOf(n, index))
    const call = { index, id, type: "function", ...signed(flavour, n, index) }
    // Calls of Mistral and Google come whole.
    const isWhole = flavour === "mistral" || flavour === "google"
    const args = isWhole ? [] : [...pieces(argumentsOf(city))]
    const first = { name: "weather", arguments: isWhole ? argumentsOf(city) : "" }
    yield chunk({ tool_calls: [{ ...call, function: first }] })
    for (const piece of args) yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
  }
  const end = chunk({}, step.cities.length === 0 ? "stop" : "tool_calls")
  const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 }
  // Mistral's last chunk has both; OpenAI's has no choices.
  if (flavour === "mistral") yield { ...end, usage }
  else yield* [end, { ...base, choices: [], usage }]
}

export function responsesAnswer({ thinking, text, cities }: Step, n: number): OpenAI.Responses.Response {
  const output = [
    ...(thinking === ""
      ? []
      : [
          {
            type: "reasoning",
            id: `rs_${n}`,
            summary: [{ type: "summary_text", text: thinking }],
            encrypted_content: `encrypted ${n}`,
          },
        ]),
    ...(text === ""
      ? []
      : [
          {
            type: "message",
            id: `msg_${n}`,
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
          },
        ]),
    ...cities.map((city, i) => {
      const k = numberOf(n, i)
      return {
        type: "function_call",
        id: `fc_${k}`,
        call_id: `call_${k}`,
        name: "weather",
        arguments: argumentsOf(city),
        status: "completed",
      }
    }),
  ]
  const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
  return {
    id: `resp_${n}`,
    object: "response",
    created_at: 1,
    model: "gpt-5.1",
    status: "completed",
    error: null,
    incomplete_details: null,
    parallel_tool_calls: true,
    output,
    usage: { input_tokens: 9, output_tokens: 5, total_tokens: 14, ...details },
  } as unknown as OpenAI.Responses.Response
}

export const responsesEventsOf = (step: Step, n: number): Iterable<object> =>
  responsesEvents(responsesAnswer(step, n), SIZE)

export function anthropicAnswer({ thinking, text, cities }: Step, n: number): Anthropic.Message {
  const content = [
    ...(thinking === "" ? [] : [{ type: "thinking", thinking, signature: `signature ${n}` }]),
    ...(text === "" ? [] : [{ type: "text", text, citations: null }]),
    ...cities.map((city, i) => ({ type: "tool_use", id: `toolu_${numberOf(n, i)}`, name: "weather", input: { city } })),
  ]
  return {
    id: `msg_${n}`,
    type: "message",
    role: "assistant",
    model: "claude",
    content,
    stop_reason: cities.length === 0 ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 9, output_tokens: 5 },
  } as unknown as Anthropic.Message
}

export const anthropicEventsOf = (step: Step, n: number): Iterable<object> =>
  anthropicEvents(anthropicAnswer(step, n), SIZE)

export function geminiAnswer({ thinking, text, cities }: Step, n: number): GenerateContentResponse {
  const parts = [
    ...(thinking === "" ? [] : [{ text: thinking, thought: true }]),
    ...(text === "" ? [] : [{ text }]),
    ...cities.map((city, i) => ({
      functionCall: { name: "weather", args: { city } },
      // Only the first call of a step is signed.
      ...(i === 0 ? { thoughtSignature: btoa(`signature ${n}`) } : {}),
    })),
  ]
  return {
    responseId: `g${n}`,
    modelVersion: "gemini-3-pro",
    candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts } }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 5, totalTokenCount: 14 },
  } as unknown as GenerateContentResponse
}

export const geminiEventsOf = (step: Step, n: number): Iterable<object> => geminiChunks(geminiAnswer(step, n), SIZE)
