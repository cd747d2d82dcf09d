import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../../test/property.ts"
import { readAnswer } from "./answer.ts"

/** An answer with a text and a word, as each client gives it. */
const SHAPES: Readonly<Record<string, (text: string, word: string) => unknown>> = {
  "an assistant message": (text, stopReason) => ({ role: "assistant", content: text, stopReason }),
  "the AI SDK": (text, finishReason) => ({
    text,
    content: [{ type: "text", text }],
    finishReason,
    toolCalls: [],
    get output() {
      throw new Error("No output generated.")
    },
  }),
  "a model of the AI SDK": (text, raw) => ({ content: [{ type: "text", text }], finishReason: { unified: raw, raw } }),
  Anthropic: (text, stop_reason) => ({
    content: [
      { type: "thinking", thinking: "hm" },
      { type: "text", text },
    ],
    stop_reason,
  }),
  "OpenAI Chat Completions": (content, finish_reason) => ({
    choices: [{ message: { role: "assistant", content, refusal: null }, finish_reason }],
  }),
  "OpenAI Responses": (text, status) => ({
    status,
    incomplete_details: null,
    output: [
      { type: "reasoning", summary: [] },
      { type: "message", content: [{ type: "output_text", text }] },
    ],
    text: { format: { type: "text" } },
  }),
  Gemini: (text, finishReason) => ({
    candidates: [{ content: { role: "model", parts: [{ text: "hm", thought: true }, { text }] }, finishReason }],
  }),
  Bedrock: (text, stopReason) => ({ output: { message: { role: "assistant", content: [{ text }] } }, stopReason }),
  Ollama: (content, done_reason) => ({ message: { role: "assistant", content }, done: true, done_reason }),
  LangChain: (content, finish_reason) => ({ content, tool_calls: [], response_metadata: { finish_reason } }),
}

const WORDS = {
  length: ["length", "max_tokens", "MAX_TOKENS", "incomplete", "model_context_window_exceeded", "model_length"],
  call: ["toolUse", "tool_calls", "tool-calls", "tool_use", "pause_turn", "MALFORMED_FUNCTION_CALL"],
  refusal: ["refusal", "content_filter", "content-filter", "SAFETY", "guardrail_intervened", "sensitive"],
  broken: ["error", "failed", "aborted", "cancelled", "in_progress", "insufficient_system_resource"],
  unknown: ["other", "OTHER", "unknown", "FINISH_REASON_UNSPECIFIED", "new_word", "停"],
} as const

test("an answer is complete by the word of its client alone, whichever client gave it", () => {
  for (const shape of Object.values(SHAPES)) {
    for (const word of ["stop", "end_turn", "STOP", "stop_sequence", "completed", "eos_token"])
      expect(readAnswer(shape("## Goal", word))).toEqual({ text: "## Goal" })
    for (const [problem, words] of Object.entries(WORDS))
      for (const word of words) expect(readAnswer(shape("## Goal", word))).toEqual({ problem, word })
  }
})

test("a word that nobody knows is never a complete answer", () => {
  const word = fc.string({ minLength: 1 }).filter((made) => !/^[\s_-]*$/.test(made))
  const known =
    /^(?:stop|endturn|stopsequence|eos|eostoken|eosfound|stopstringfound|complete|completed|finish|success)$/
  holds(
    fc.property(word, fc.constantFrom(...Object.values(SHAPES)), (made, shape) => {
      fc.pre(!known.test(made.toLowerCase().replace(/[^a-z]/g, "")))
      expect(readAnswer(shape("text", made)).problem).toBeDefined()
    }),
    200,
  )
})

test("a refusal or a call is seen without its word, in each client's form", () => {
  const refusals = [
    { choices: [{ message: { content: null, refusal: "I cannot." } }] },
    { status: "completed", output: [{ type: "message", content: [{ type: "refusal", refusal: "I cannot." }] }] },
    { status: "incomplete", incomplete_details: { reason: "content_filter" }, output_text: "so" },
  ]
  for (const answer of refusals) expect(readAnswer(answer)).toMatchObject({ problem: "refusal" })
  const calls = [
    { text: "so", toolCalls: [{ toolName: "read" }] },
    { choices: [{ message: { content: "so", tool_calls: [{ id: "c" }] } }] },
    { status: "completed", output: [{ type: "function_call", name: "read" }] },
    { candidates: [{ content: { parts: [{ text: "so" }, { functionCall: { name: "read" } }] } }] },
    { output: { message: { content: [{ text: "so" }, { toolUse: { name: "read" } }] } } },
    { content: [{ type: "server_tool_use" }] },
  ]
  for (const answer of calls) expect(readAnswer(answer)).toEqual({ problem: "call" })
})

test("a sequence that has stopped vLLM is no word for the end, and an answer inside itself ends", () => {
  const choices = [{ message: { content: "## Goal" }, finish_reason: "stop", stop_reason: "</summary>" }]
  expect(readAnswer({ choices })).toEqual({ text: "## Goal" })
  const inside: Record<string, unknown> = {}
  inside["message"] = inside
  expect(readAnswer(inside)).toEqual({ problem: "empty" })
})
