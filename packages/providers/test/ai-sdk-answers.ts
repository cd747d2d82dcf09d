/** Answers of the AI SDK, read into a session as its stream gives them: with the providers' options, items, hosted calls, files and approvals. */
import type { Session } from "@sessions/core"
import * as fc from "fast-check"
import { accumulateAiSdk, type AiSdkStreamPart } from "../src/ai-sdk/index.ts"
import { appendStream } from "../src/shared/stream.ts"

type Part = AiSdkStreamPart & Readonly<Record<string, unknown>>

const MODELS = [
  { provider: "anthropic.messages", modelId: "claude-sonnet-5-5" },
  { provider: "openai.responses", modelId: "gpt-5.1" },
  { provider: "openai.chat", modelId: "gpt-5.1" },
  { provider: "google.generative-ai", modelId: "gemini-3-pro-preview" },
  { provider: "mistral.chat", modelId: "magistral-medium-latest" },
  { provider: "kimi.chat", modelId: "kimi-k2.6" },
  undefined,
] as const

/** Ids of items begin as those of other answers: a log may have an answer twice. The last one is of the year 2020. */
const item = fc.constantFrom("sdk_1", "sdk_2", "sdk_3", `sdk_${"i".repeat(70)}`, `5f000000${"0".repeat(40)}`)
const metadata = {
  text: fc.option(
    fc.oneof(
      item.map((id) => ({ openai: { itemId: `msg_${id}` } })),
      fc.constant({ openai: { itemId: "item_sdk_7" } }),
      fc.constant({ google: { thoughtSignature: "c2ln" } }),
    ),
    { nil: undefined },
  ),
  reasoning: fc.option(
    fc.oneof(
      item.map((id) => ({ openai: { itemId: `rs_${id}`, reasoningEncryptedContent: "ZQ==" } })),
      item.map((id) => ({ openai: { itemId: `rs_${id}`, reasoningEncryptedContent: null } })),
      fc.constant({ openai: { itemId: "item_sdk_7", reasoningEncryptedContent: "ZQ==" } }),
      fc.constant({ anthropic: { signature: "c2ln" } }),
      fc.constant({ anthropic: { redactedData: "cg==" } }),
      fc.constant({ google: { thoughtSignature: "c2ln" } }),
    ),
    { nil: undefined },
  ),
}

const spoken = (type: "text" | "reasoning") =>
  fc
    .record({ text: fc.constantFrom("hi", "", " ", "half \ud83d"), options: metadata[type] })
    .map(({ text, options }): readonly Part[] => {
      const more = { id: "p", ...(options === undefined ? {} : { providerMetadata: options }) }
      return [
        { type: `${type}-start`, ...more },
        { type: `${type}-delta`, id: "p", text },
        { type: `${type}-end`, ...more },
      ]
    })

const called = fc
  .record({ toolCallId: fc.constantFrom("call_1", "call_2", "read:0", "z".repeat(70)), isItem: fc.boolean() })
  .map(({ toolCallId, isItem }): readonly Part[] => [
    {
      type: "tool-call",
      toolCallId,
      toolName: "read",
      input: { path: "a" },
      ...(isItem ? { providerMetadata: { openai: { itemId: "fc_sdk_1" } } } : {}),
    },
  ])

/** What a provider has executed itself, as a call and its result, and what else only it gives. */
const OWN: Readonly<
  Record<
    string,
    { readonly ids: readonly string[]; readonly tools: readonly object[]; readonly other: readonly Part[] }
  >
> = {
  anthropic: {
    ids: ["srvtoolu_1", "srvtoolu_2"],
    tools: [
      {
        toolName: "web_search",
        input: { query: "q" },
        output: [
          { type: "web_search_result", url: "https://a.example/", title: "A", pageAge: null, encryptedContent: "ZQ==" },
        ],
      },
    ],
    other: [{ type: "file", file: { base64: "JVBERi0=", mediaType: "application/pdf" } }],
  },
  openai: {
    ids: ["ws_sdk_1", "ws_sdk_2"],
    tools: [{ toolName: "web_search", input: {}, output: { action: { type: "search", query: "q" } } }],
    other: [
      {
        type: "custom",
        kind: "openai.compaction",
        providerMetadata: { openai: { itemId: "cmp_sdk_1", encryptedContent: "ZQ==" } },
      },
    ],
  },
  google: {
    ids: ["aBcDeFgHiJkLmNoP", "aBcDeFgHiJkLmNoQ"],
    tools: [
      {
        toolName: "code_execution",
        input: { language: "PYTHON", code: "1" },
        output: { outcome: "OUTCOME_OK", output: "1" },
      },
    ],
    other: [
      { type: "reasoning-file", file: { base64: "iVBORw0KGgo=", mediaType: "image/png" } },
      { type: "file", file: { base64: "JVBERi0=", mediaType: "application/pdf" } },
    ],
  },
}

function own(provider: string): fc.Arbitrary<readonly Part[]> {
  const { ids, tools, other } = OWN[provider] ?? { ids: [""], tools: [], other: [] }
  const call = fc.record({ id: fc.constantFrom(...ids), halves: fc.constantFrom(1, 2, 3) }).map(({ id, halves }) =>
    tools.flatMap((tool) => {
      const named = { ...tool, toolCallId: id, providerExecuted: true }
      const parts = [
        { type: "tool-call", ...named },
        { type: "tool-result", ...named },
      ]
      return halves === 3 ? parts : parts.slice(halves - 1, halves)
    }),
  )
  const image: Part = { type: "file", file: { base64: "iVBORw0KGgo=", mediaType: "image/png" } }
  const asked: Part = {
    type: "tool-approval-request",
    approvalId: "a1",
    toolCallId: "call_1",
    toolCall: { toolCallId: "call_1" },
  }
  return fc.oneof(
    call,
    fc.constantFrom(image, asked, ...other).map((part) => [part]),
  )
}

async function* streamed(parts: readonly Part[]): AsyncGenerator<Part> {
  yield* parts
}

/** What a step gives, as much of it as arrives. */
export const saidByAiSdk: fc.Arbitrary<(session: Session) => Promise<unknown>> = fc
  .constantFrom(...MODELS)
  .chain((model) =>
    fc.record({
      model: fc.constant(model),
      parts: fc.array(
        fc.oneof(
          { weight: 3, arbitrary: spoken("text") },
          { weight: 3, arbitrary: spoken("reasoning") },
          { weight: 3, arbitrary: called },
          { weight: 2, arbitrary: own(model?.provider.split(".")[0] ?? "") },
        ),
        { maxLength: 5 },
      ),
      finishReason: fc.constantFrom("stop", "tool-calls", "length"),
      isCut: fc.boolean(),
    }),
  )
  .map(({ parts, model, finishReason, isCut }) => (session) => {
    const end: Part = { type: "finish-step", finishReason, usage: {}, response: { id: "r" } }
    // The API stores nothing of an answer that was cut off.
    const cut = JSON.parse(JSON.stringify(parts.flat()).replaceAll("sdk_", "cut_")) as Part[]
    const given = isCut ? cut : [...parts.flat(), end]
    const accumulate = accumulateAiSdk(model === undefined ? {} : { model })
    return appendStream(session, streamed(given), accumulate, {}).catch(() => undefined)
  })
