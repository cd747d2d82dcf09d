/** Whatever happened to a session, each provider of the AI SDK takes its context, after what the SDK makes of it. */
import { type AssistantMessage, createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../.config/runs.ts"
import { toAiSdk } from "../src/ai-sdk/index.ts"
import { toolCalls, toolResult } from "../src/index.ts"
import { newSession } from "./answers.ts"
import { AI_SDK, bodyOf, refusedOf } from "./clients/ai-sdk.ts"
import { sessionAfter, steps } from "./histories.ts"
import { contextOf, WAYS } from "./sendable.ts"

test.each(AI_SDK)("$provider takes the context after any history", (receiver) =>
  fc.assert(
    fc.asyncProperty(steps, fc.constantFrom(...WAYS), async (list, way) => {
      const session = await sessionAfter(list)
      expect(await refusedOf(await contextOf(session, way), receiver)).toEqual([])
    }),
    { numRuns: runs(20) },
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
