/** What the events of a stream cost: four times as many of each kind are about four times the work. */
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH, times } from "../../core/test/growth-of.ts"
import { accumulateAiSdk } from "../src/ai-sdk/stream.ts"
import { accumulateAnthropic } from "../src/anthropic/stream.ts"
import { accumulateGemini } from "../src/gemini/stream.ts"
import { accumulateOpenAIChat } from "../src/openai-chat/stream.ts"
import { accumulateOpenAIResponses } from "../src/openai-responses/stream.ts"
import type { Accumulator } from "../src/shared/stream.ts"

type Kinds = Readonly<Record<string, (n: number) => readonly object[]>>

/** The events of one block: what begins it, and a delta for each number. */
const block = (content_block: object, delta: (i: number) => object) => (n: number) => [
  { type: "message_start", message: { id: "m", model: "x" } },
  { type: "content_block_start", index: 0, content_block },
  ...times(n, (i) => ({ type: "content_block_delta", index: 0, delta: delta(i) })),
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: {} },
  { type: "message_stop" },
]

const ANTHROPIC: Kinds = {
  texts: block({ type: "text", text: "" }, () => ({ type: "text_delta", text: "ab" })),
  thinking: block({ type: "thinking", thinking: "" }, () => ({ type: "thinking_delta", thinking: "ab" })),
  signatures: block({ type: "thinking", thinking: "" }, () => ({ type: "signature_delta", signature: "ab" })),
  citations: block({ type: "text", text: "" }, (i) => ({ type: "citations_delta", citation: { cited_text: `${i}` } })),
  "other fields": block({ type: "compaction" }, () => ({ type: "compaction_delta", content: "ab" })),
  arguments: block({ type: "tool_use", id: "c", name: "t" }, () => ({ type: "input_json_delta", partial_json: " " })),
  blocks: (n) =>
    times(n, (index) => [
      { type: "content_block_start", index, content_block: { type: "tool_use", id: `c${index}`, name: "t" } },
      { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: "{}" } },
      { type: "content_block_stop", index },
    ]).flat(),
  counts: (n) => times(n, (i) => ({ type: "message_delta", delta: {}, usage: { output_tokens: i } })),
}

const chat = (delta: (i: number) => object) => (n: number) => [
  ...times(n, (i) => ({ id: "m", model: "x", choices: [{ index: 0, delta: delta(i) }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
]
const thinking = (part: object): object => ({ content: [{ type: "thinking", thinking: [part] }] })

const CHAT: Kinds = {
  texts: chat(() => ({ content: "ab" })),
  "parts of text": chat(() => ({ content: [{ type: "text", text: "ab" }] })),
  "other parts": chat((i) => ({ content: [{ type: "reference", reference_ids: [i] }] })),
  thinking: chat(() => thinking({ type: "text", text: "ab" })),
  "references in thinking": chat((i) => thinking({ type: "reference", reference_ids: [i] })),
  refusals: chat(() => ({ refusal: "ab" })),
  audio: chat(() => ({ audio: { id: "a", data: "ab", transcript: "ab" } })),
  reasoning: chat(() => ({ reasoning_content: "ab" })),
  "details of reasoning": chat(() => ({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "ab" }] })),
  "many details of reasoning": chat((i) => ({ reasoning_details: [{ type: "reasoning.encrypted", data: `${i}` }] })),
  "other fields": chat((i) => ({ [`field${i % 100}`]: "ab" })),
  "fields of a field": chat((i) => ({ extra_content: { [`k${i}`]: i } })),
  "fields of a field of a field": chat((i) => ({ extra_content: { google: { [`k${i}`]: i } } })),
  arguments: chat(() => ({ tool_calls: [{ index: 0, id: "c", function: { name: "t", arguments: " " } }] })),
  calls: chat((index) => ({ tool_calls: [{ index, id: `c${index}`, function: { name: "t", arguments: "{}" } }] })),
  "calls that end early": (n) =>
    chat((index) => ({ tool_calls: [{ index, id: `c${index}`, function: { name: "t", arguments: "{" } }] }))(n).slice(
      0,
      n,
    ),
  "calls in turn": (n) =>
    chat((i) => ({
      tool_calls: [
        { index: (i % (n / 2)) + 0, id: `c${i % (n / 2)}`, function: { name: i < n / 2 ? "t" : "", arguments: " " } },
      ],
    }))(n),
  "calls with one index": chat((i) => ({
    tool_calls: [{ index: 0, id: `c${i}`, function: { name: "t", arguments: "{}" } }],
  })),
}

const responses = (item: object, event: (i: number) => object) => (n: number) => [
  { type: "response.created", response: { id: "r", model: "x" } },
  { type: "response.output_item.added", output_index: 0, item },
  ...times(n, (i) => ({ output_index: 0, content_index: 0, summary_index: 0, delta: "ab", ...event(i) })),
]

const RESPONSES: Kinds = {
  texts: responses({ type: "message", id: "m", content: [] }, () => ({ type: "response.output_text.delta" })),
  refusals: responses({ type: "message", id: "m", content: [] }, () => ({ type: "response.refusal.delta" })),
  reasoning: responses({ type: "reasoning", id: "m" }, () => ({ type: "response.reasoning_text.delta" })),
  summaries: responses({ type: "reasoning", id: "m", summary: [] }, (summary_index) => ({
    type: "response.reasoning_summary_text.delta",
    summary_index,
  })),
  parts: responses({ type: "message", id: "m", content: [] }, (content_index) => ({
    type: "response.output_text.delta",
    content_index,
  })),
  arguments: responses({ type: "function_call", call_id: "c", name: "t", arguments: "" }, () => ({
    type: "response.function_call_arguments.delta",
  })),
  inputs: responses({ type: "custom_tool_call", call_id: "c", name: "t", input: "" }, () => ({
    type: "response.custom_tool_call_input.delta",
  })),
  items: (n) =>
    times(n, (output_index) => ({
      type: "response.output_item.done",
      output_index,
      item: { type: "function_call", id: `f${output_index}`, call_id: `c${output_index}`, name: "t", arguments: "{}" },
    })),
}

const gemini = (part: (i: number) => object) => (n: number) => [
  ...times(n, (i) => ({ responseId: "r", modelVersion: "x", candidates: [{ content: { parts: [part(i)] } }] })),
  { candidates: [{ finishReason: "STOP" }] },
]

const GEMINI: Kinds = {
  texts: gemini(() => ({ text: "ab" })),
  thoughts: gemini(() => ({ text: "ab", thought: true })),
  "texts and thoughts": gemini((i) => ({ text: "ab", thought: i % 2 === 0 })),
  signatures: gemini((i) => ({ text: "ab", thoughtSignature: `${i}` })),
  calls: gemini((i) => ({ functionCall: { id: `c${i}`, name: "t", args: {} } })),
  "parts of one chunk": (n) => [{ candidates: [{ content: { parts: times(n, (i) => ({ text: `${i}` })) } }] }],
}

const call = (i: number): object => ({ type: "tool-call", toolCallId: `c${i}`, toolName: "t", input: {} })

const AI_SDK: Kinds = {
  texts: (n) => [{ type: "text-start", id: "t" }, ...times(n, () => ({ type: "text-delta", id: "t", text: "ab" }))],
  "many texts": (n) =>
    times(n, (i) => [
      { type: "text-start", id: `${i}` },
      { type: "text-delta", id: `${i}`, text: "a" },
    ]).flat(),
  inputs: (n) => [
    { type: "tool-input-start", id: "c", toolName: "t" },
    ...times(n, () => ({ type: "tool-input-delta", id: "c", delta: "ab" })),
  ],
  calls: (n) => times(n, call),
  "calls behind their inputs": (n) => [
    ...times(n, (i) => ({ type: "tool-input-start", id: `c${i}`, toolName: "t" })),
    ...times(n, call),
  ],
  results: (n) => times(n, (i) => ({ type: "tool-result", toolCallId: `c${i}`, toolName: "t", output: "x" })),
  files: (n) => times(n, () => ({ type: "file", file: { base64: "AA==", mediaType: "image/png" } })),
  steps: (n) => times(n, () => ({ type: "finish-step", response: { id: "r" }, usage: {}, finishReason: "stop" })),
}

const PARSERS: readonly (readonly [name: string, () => Accumulator<never>, Kinds])[] = [
  ["Anthropic", accumulateAnthropic, ANTHROPIC],
  ["Chat Completions", accumulateOpenAIChat, CHAT],
  ["Responses", accumulateOpenAIResponses, RESPONSES],
  ["Gemini", accumulateGemini, GEMINI],
  ["AI SDK", accumulateAiSdk, AI_SDK],
]

const ALL = PARSERS.flatMap(([name, make, kinds]) =>
  Object.entries(kinds).map(([kind, eventsOf]) => ({ title: `${name}: ${kind}`, make, eventsOf })),
)

test.each(ALL)("$title", async ({ make, eventsOf }) => {
  const parse = (events: readonly object[]): void => {
    const accumulator = make()
    for (const event of events) {
      accumulator.add(event as never)
      accumulator.take?.()
    }
    // The texts are read, as an append does.
    JSON.stringify(accumulator.entries())
  }
  expect(await growthOf(8_000, eventsOf, parse)).toBeLessThan(MOST_GROWTH)
})
