/** What a request costs with a very long answer, as another program may have stored it: four times as many blocks are about four times the work. */
import type { ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH, times } from "../../core/test/growth-of.ts"
import { toAiSdk } from "../src/ai-sdk/request.ts"
import { toAnthropic } from "../src/anthropic/request.ts"
import { toGemini } from "../src/gemini/request.ts"
import { toOpenAIChat } from "../src/openai-chat/request.ts"
import { fromOpenAIResponses } from "../src/openai-responses/answer.ts"
import { toOpenAIResponses } from "../src/openai-responses/request.ts"

type Context = { readonly messages: readonly ContextMessage<ModelMessage>[] }

const item = (message: object, n = 0): ContextMessage<ModelMessage> => ({
  entryId: `e${n}`,
  kind: "message",
  message: message as ModelMessage,
})
const question = item({ role: "user", content: [{ type: "text", text: "q" }] })
const answer = (content: readonly object[]): Context => ({
  messages: [question, item({ role: "assistant", content }), question],
})
const openai = (item: object): object => ({ type: "openai:item", item })
const image = { type: "image", mimeType: "image/bmp", data: "Qk0=" }
const withImages = (n: number): Context => ({
  messages: [
    question,
    item({
      role: "assistant",
      content: times(n, (i) => ({ type: "toolCall", id: `c${i}`, name: "t", arguments: {} })),
    }),
    ...times(n, (i) => item({ role: "toolResult", toolCallId: `c${i}`, toolName: "t", content: [image] }, i)),
  ],
})

const REQUESTS: Readonly<
  Record<string, readonly [count: number, make: (n: number) => Context, send: (context: Context) => unknown]>
> = {
  "reasoning (OpenAI)": [
    2_000,
    (n) =>
      answer(
        times(n, (i) => ({
          type: "thinking",
          thinking: "a",
          native: { api: "openai-responses", fields: { id: `rs_${i}`, encrypted_content: "x" } },
        })),
      ),
    toOpenAIResponses,
  ],
  "halves of the API's own calls (OpenAI)": [
    1_000,
    (n) =>
      answer(
        times(n, (i) => [
          openai({ type: "shell_call", id: `s${i}`, call_id: `k${i}`, action: { commands: [] } }),
          openai({ type: "shell_call_output", call_id: `k${i}`, output: [] }),
        ]).flat(),
      ),
    toOpenAIResponses,
  ],
  "calls of the API's own without outputs (OpenAI)": [
    2_000,
    (n) => answer(times(n, (i) => openai({ type: "program", id: `p${i}`, call_id: `k${i}` }))),
    toOpenAIResponses,
  ],
  "halves of hosted calls (Gemini)": [
    1_500,
    (n) =>
      answer(
        times(n, (i) => [
          { type: "gemini:part", part: { toolCall: { id: `${i}` } } },
          { type: "gemini:part", part: { toolResponse: { id: `${i}` } } },
        ]).flat(),
      ),
    toGemini,
  ],
  "images of results (Gemini)": [1_500, withImages, toGemini],
  "images of results (Anthropic)": [1_500, withImages, toAnthropic],
  "parts of another provider (AI SDK)": [
    2_000,
    (n) => answer(times(n, (i) => ({ type: "ai-sdk:part", part: { type: "source", id: `${i}` } }))),
    toAiSdk,
  ],
  "thoughts that lead to nothing (AI SDK)": [
    2_000,
    (n) => answer(times(n, (i): ContentBlock => ({ type: "thinking", thinking: `${i}` }))),
    toAiSdk,
  ],
}

test.each(Object.entries(REQUESTS))("%s", async (_, [count, make, send]) => {
  expect(await growthOf(count, make, send)).toBeLessThan(MOST_GROWTH)
})

test.each([
  ["Anthropic", toAnthropic],
  ["Gemini", toGemini],
  ["Responses", toOpenAIResponses],
  ["AI SDK", toAiSdk],
  ["OpenAI chat", toOpenAIChat],
] as const)("messages of more blocks than a call takes arguments (%s)", (_, send) => {
  const content = times(130_000, () => ({ type: "text", text: "a" }))
  const messages = [question, item({ role: "user", content }), item({ role: "assistant", content }), question]
  expect(() => send({ messages })).not.toThrow()
})

test("an answer of very many items (OpenAI)", async () => {
  const output = (n: number): readonly object[] => [
    ...times(n, (i) => ({ type: "reasoning", id: `rs_${i}`, summary: [] })),
    ...times(n, (i) => ({ type: "shell_call", id: `s${i}`, call_id: `k${i}`, action: { commands: [] } })),
  ]
  const read = (items: readonly object[]): unknown => fromOpenAIResponses({ id: "r", model: "m", output: items })
  expect(await growthOf(1_500, output, read)).toBeLessThan(MOST_GROWTH)
})
