/** Random answers in the shapes of the providers' SDKs. */
import type Anthropic from "@anthropic-ai/sdk"
import type { GenerateContentResponse } from "@google/genai"
import * as fc from "fast-check"
import type OpenAI from "openai"
import { input, json, numbered, signature, text } from "./answers.ts"

const CITATION: Anthropic.TextCitation = {
  type: "web_search_result_location",
  cited_text: "c",
  encrypted_index: "I",
  title: "t",
  url: "u",
}

const anthropicBlock: fc.Arbitrary<Anthropic.ContentBlock> = fc.oneof(
  fc.record({
    type: fc.constant("text" as const),
    text,
    citations: fc.constantFrom<Anthropic.TextCitation[] | null>(null, [CITATION]),
  }),
  fc.record({ type: fc.constant("thinking" as const), thinking: text, signature }),
  fc.record({ type: fc.constant("redacted_thinking" as const), data: signature }),
  fc.record({
    type: fc.constant("tool_use" as const),
    id: fc.constant(""),
    name: fc.constantFrom("read", "write"),
    input,
    caller: fc.constant({ type: "direct" as const }),
  }),
)
/** A call of a tool that the API runs, and its result. */
const anthropicHosted = input.map((query): Anthropic.ContentBlock[] => [
  { type: "server_tool_use", id: "", name: "web_search", input: query, caller: { type: "direct" } },
  { type: "web_search_tool_result", tool_use_id: "", content: [], caller: { type: "direct" } },
])

function withOwnId(block: Anthropic.ContentBlock, i: number): Anthropic.ContentBlock {
  if (block.type === "server_tool_use") return { ...block, id: `call_s${i}` }
  return block.type === "web_search_tool_result" ? { ...block, tool_use_id: `call_s${i - 1}` } : block
}

export const anthropicAnswer: fc.Arbitrary<Anthropic.Message> = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: anthropicBlock.map((block) => [block]) },
      { weight: 1, arbitrary: anthropicHosted },
    ),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map((blocks) => blocks.flat().map(withOwnId))
  // The API never ends with thinking.
  .filter((blocks) => blocks.at(-1)?.type !== "thinking" && blocks.at(-1)?.type !== "redacted_thinking")
  .map(
    (blocks) =>
      ({
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "claude",
        content: numbered(blocks, (block, id) => (block.type === "tool_use" ? { ...block, id } : block)),
        stop_reason: "tool_use",
        stop_sequence: null,
        stop_details: null,
        container: null,
        usage: { input_tokens: 5, output_tokens: 7, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 },
      }) as unknown as Anthropic.Message,
  )

export const chatAnswer: fc.Arbitrary<OpenAI.ChatCompletion> = fc
  .record({
    content: fc.option(text),
    refusal: fc.option(text),
    calls: fc.array(
      fc.oneof(
        json.map((args) => ({ id: "", type: "function" as const, function: { name: "read", arguments: args } })),
        text.map((value) => ({ id: "", type: "custom" as const, custom: { name: "shell", input: value } })),
      ),
      { maxLength: 3 },
    ),
  })
  .filter(({ content, calls }) => content !== null || calls.length > 0)
  .map(
    ({ content, refusal, calls }) =>
      ({
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model: "gpt",
        choices: [
          {
            index: 0,
            finish_reason: "stop",
            logprobs: null,
            message: {
              role: "assistant",
              content,
              refusal,
              ...(calls.length === 0 ? {} : { tool_calls: numbered(calls, (call, id) => ({ ...call, id })) }),
            },
          },
        ],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 4,
          total_tokens: 14,
          prompt_tokens_details: { cached_tokens: 6 },
        },
      }) as unknown as OpenAI.ChatCompletion,
  )

const responsesItem = fc.oneof(
  fc.record({
    type: fc.constant("message" as const),
    id: fc.constant("msg"),
    role: fc.constant("assistant" as const),
    status: fc.constant("completed" as const),
    content: fc.array(
      fc.oneof(
        text.map((value) => ({ type: "output_text" as const, text: value, annotations: [], logprobs: [] })),
        text.map((refusal) => ({ type: "refusal" as const, refusal })),
      ),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  fc.record({
    type: fc.constant("reasoning" as const),
    id: fc.constant("rs"),
    summary: fc.array(
      text.map((value) => ({ type: "summary_text" as const, text: value })),
      { maxLength: 2 },
    ),
    encrypted_content: signature,
  }),
  json.map((args) => ({
    type: "function_call" as const,
    id: "fc",
    call_id: "",
    name: "read",
    arguments: args,
    status: "completed" as const,
  })),
  text.map((value) => ({ type: "custom_tool_call" as const, id: "ctc", call_id: "", name: "shell", input: value })),
  fc.constant({
    type: "web_search_call" as const,
    id: "ws",
    status: "completed" as const,
    action: { type: "search", query: "q", queries: ["q"] },
  }),
)
export const responsesAnswer: fc.Arbitrary<OpenAI.Responses.Response> = fc
  .array(responsesItem, { minLength: 1, maxLength: 5 })
  // The API never ends with a reasoning.
  .filter((items) => items.at(-1)?.type !== "reasoning")
  .map(
    (items) =>
      ({
        id: "resp_1",
        object: "response",
        model: "gpt",
        status: "completed",
        error: null,
        incomplete_details: null,
        output: numbered(items, (item, id) => {
          const own = { ...item, id: `${"id" in item ? item.id : ""}_${id}` }
          return ("call_id" in own ? { ...own, call_id: id } : own) as never
        }),
        usage: {
          input_tokens: 10,
          input_tokens_details: { cached_tokens: 6, cache_write_tokens: 0 },
          output_tokens: 4,
          output_tokens_details: { reasoning_tokens: 1 },
          total_tokens: 14,
        },
      }) as unknown as OpenAI.Responses.Response,
  )

const geminiPart = fc.oneof(
  fc.record({ text }),
  fc.record({ text, thought: fc.constant(true) }),
  fc.record({ text: fc.constant(""), thoughtSignature: signature }),
  fc.record({ text, thoughtSignature: signature }),
  fc.record({ functionCall: fc.record({ name: fc.constant("read"), args: input }), thoughtSignature: signature }),
  fc.record({ functionCall: fc.record({ id: fc.uuid(), name: fc.constant("read"), args: input }) }),
  fc.record({ inlineData: fc.constant({ mimeType: "image/png", data: "AAAA" }) }),
  fc.record({ executableCode: fc.constant({ code: "1", language: "PYTHON" }) }),
)
export const geminiAnswer: fc.Arbitrary<GenerateContentResponse> = fc
  .array(geminiPart, { minLength: 1, maxLength: 5 })
  // Thoughts lead to something.
  .filter((parts) => parts.some((part) => !("thought" in part)))
  // The parts of a stream are joined.
  .filter((parts) => parts.every((part, i) => i === 0 || !isPlain(part) || !isPlain(parts[i - 1])))
  .map(
    (parts) =>
      ({
        responseId: "r1",
        modelVersion: "gemini",
        candidates: [{ index: 0, finishReason: "STOP", content: { role: "model", parts } }],
        usageMetadata: {
          promptTokenCount: 10,
          cachedContentTokenCount: 6,
          candidatesTokenCount: 3,
          totalTokenCount: 13,
        },
      }) as unknown as GenerateContentResponse,
  )

function isPlain(part: object | undefined): boolean {
  return part !== undefined && "text" in part && !("thoughtSignature" in part)
}

const providerOptions = fc.record({ anthropic: fc.record({ signature }) })
export const aiSdkPart = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text }),
  fc.record({ type: fc.constant("reasoning" as const), text, providerOptions }),
  fc.record({
    type: fc.constant("tool-call" as const),
    toolCallId: fc.constant<string>(""),
    toolName: fc.constant("read"),
    input,
  }),
  fc.record({
    type: fc.constant("file" as const),
    data: fc.constant("AAAA"),
    mediaType: fc.constantFrom("image/png", "text/csv"),
  }),
)
export const output = fc.oneof(
  text.map((value) => ({ type: "text" as const, value })),
  input.map((value) => ({ type: "json" as const, value })),
  text.map((value) => ({ type: "error-text" as const, value })),
  fc.constant({
    type: "content" as const,
    value: [
      { type: "text", text: "a" },
      { type: "image-data", data: "AAAA", mediaType: "image/png" },
      { type: "file", data: { type: "data", data: "AAAA" }, mediaType: "image/png" },
    ],
  }),
)
