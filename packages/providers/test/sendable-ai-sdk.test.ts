/** Whatever happened to a session, each provider of the AI SDK takes its context, after what the SDK makes of it. */
import { type AssistantMessage, createSessions, type NewEntry } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { toolCalls, toolResult } from "../src/index.ts"
import { newSession } from "./answers.ts"
import { AI_SDK, type AiSdkReceiver, bodyOf, refusedOf } from "./clients/ai-sdk.ts"
import { sessionAfter, steps } from "./histories.ts"
import { contextOf, WAYS } from "./sendable.ts"

test.each(AI_SDK)("$provider takes the context after any history", (receiver) =>
  fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      const session = await sessionAfter(list)
      expect(await refusedOf(await contextOf(session, way), receiver)).toEqual([])
    }),
    { numRuns: runs(10) },
  ),
)

test.each(AI_SDK)("$provider takes an answer of 300 calls", async (receiver) => {
  const session = await newSession()
  const content = Array.from(
    { length: 300 },
    (_, i) => ({ type: "toolCall", id: `call_${i}`, name: "read", arguments: {} }) as const,
  )
  const message: AssistantMessage = { role: "assistant", content }
  await session.append({ type: "message", message: { role: "user", content: "Read all." } })
  await session.append({ type: "message", message })
  for (const call of toolCalls(message)) await session.append(toolResult(call, "read"))
  expect(await refusedOf(await session.context(), receiver)).toEqual([])
})

test.each(AI_SDK)("$provider gets the images of a result as images", async (receiver) => {
  const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  const call = { type: "toolCall", id: "call_1", name: "look", arguments: {} } as const
  await session.append([
    { type: "message", message: { role: "user", content: "Look." } },
    { type: "message", message: { role: "assistant", content: [call] } },
    toolResult(call, [
      { type: "text", text: "a" },
      { type: "image", mimeType: "image/png", data },
    ]),
  ])
  const { request } = toAiSdk(await session.context(), { model: receiver.model({ url: "http://127.0.0.1:9" }) })
  const body = JSON.stringify(await bodyOf(request, receiver))
  // DeepSeek takes no images at all.
  expect(body.includes(data)).toBe(receiver.api !== "deepseek")
  // In a text the quotes of the SDK's JSON are escaped.
  expect(body).not.toContain(String.raw`\"`)
})

const answer = (content: readonly object[], provider = "openai") =>
  ({ type: "message", message: { role: "assistant", provider, stopReason: "stop", content } }) as unknown as NewEntry
const receiverOf = (name: string) => AI_SDK.find(({ provider }) => provider === name) as AiSdkReceiver
const responses = receiverOf("@ai-sdk/openai, Responses")

/** A session in which a user asks before and behind each of these. */
async function sessionOf(...entries: readonly NewEntry[]) {
  const session = await newSession()
  for (const entry of entries)
    await session.append([{ type: "message", message: { role: "user", content: "Go on." } }, entry])
  await session.append({ type: "message", message: { role: "user", content: "And?" } })
  return session
}

test.each(AI_SDK)("$provider takes an answer that is an image", async (receiver) => {
  const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }
  const session = await sessionOf(answer([image], "google"), answer([{ type: "text", text: "So." }, image], "google"))
  expect(await refusedOf(await session.context(), receiver)).toEqual([])
})

test("an item of the Responses API is sent once, and not with an id that the API refuses", async () => {
  const options = (itemId: string) => ({
    providerOptions: { openai: { itemId, reasoningEncryptedContent: "ZQ==" } },
  })
  const native = (itemId: string) => ({ native: { api: "ai-sdk", fields: options(itemId) } })
  const said = (itemId: string) =>
    answer([
      { type: "thinking", thinking: "t", ...native(itemId) },
      { type: "text", text: "a" },
    ])
  const session = await sessionOf(said("rs_sdk_1"), said("rs_sdk_1"), said("item_1"), said(`rs_${"x".repeat(70)}`))
  expect(await refusedOf(await session.context(), responses)).toEqual([])
})

test("reasoning that OpenAI's client has got goes back if requests are not stored, and parts that a provider has made to no other one", async () => {
  const thinking = {
    type: "thinking",
    thinking: "t",
    signature: "ZQ==",
    native: { api: "openai-responses", fields: { id: "rs_1", encrypted_content: "ZQ==" } },
  }
  const part = { type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "cmp_1" } } }
  const session = await sessionOf(answer([thinking, { type: "ai-sdk:part", part }, { type: "text", text: "a" }]))
  const context = await session.context()
  const typesOf = (provider: string, store: boolean) =>
    toAiSdk(context, { model: { provider }, store }).request.messages.flatMap(({ role, content }) =>
      role === "assistant" ? content.map(({ type, ...rest }) => [type, "providerOptions" in rest]) : [],
    )
  expect(typesOf("openai.responses", false)).toEqual([
    ["reasoning", true],
    ["custom", true],
    ["text", false],
  ])
  expect(typesOf("openai.responses", true)).toEqual([
    ["reasoning", false],
    ["custom", true],
    ["text", false],
  ])
  expect(typesOf("anthropic.messages", true)).toEqual([
    ["reasoning", false],
    ["text", false],
  ])
  for (const receiver of AI_SDK.filter(({ api }) => api !== "responses"))
    expect(await refusedOf(context, receiver)).toEqual([])
})
