/** The AI SDK's own providers against the validators on loopback: contexts of a session are taken, after streams and after whole answers. */
import type { Session } from "@sessions/core"
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from "ai"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { appendAiSdkStream, fromAiSdk, toAiSdk } from "../src/ai-sdk/index.ts"
import { newSession } from "./answers.ts"
import { AI_SDK } from "./clients/ai-sdk.ts"
import { complete, type Mode, user } from "./clients/loops.ts"
import { type FakeProviders, startProviders } from "./clients/server.ts"

type Model = Exclude<LanguageModel, string>
const weather = tool({
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  }),
  execute: ({ city }) => `sunny in ${city}`,
})

let providers: FakeProviders
beforeAll(async () => {
  providers = await startProviders()
})
afterAll(() => providers.close())

describe.each(AI_SDK)("$provider", ({ api, model: modelOf, options, isStored = false }) => {
  /** One step at a time, so that each request is made of the session. */
  async function step(session: Session, model: Model, mode: Mode): Promise<boolean> {
    const request = {
      model,
      tools: { weather },
      stopWhen: stepCountIs(1),
      maxRetries: 0,
      ...options,
      ...complete(toAiSdk(await session.context(), { system: "Be brief.", model, store: isStored })),
    }
    if (mode === "whole") {
      const result = await generateText(request)
      await session.append(fromAiSdk(result))
      return result.toolCalls.length > 0
    }
    const result = streamText(request)
    await appendAiSdkStream(session, result.stream, { model })
    return (await result.toolCalls).length > 0
  }

  async function talk(mode: Mode) {
    const channel = providers.open(api)
    const model = modelOf(channel)
    const session = await newSession()
    await session.append(user("What is the weather in Paris, Rome and Oslo?"))
    while (await step(session, model, mode));
    await session.append(user("Thank you."))
    await step(session, model, mode)
    expect(channel.refusals).toEqual([])
    expect(channel.taken).toHaveLength(4)
    return channel.taken.map(comparable)
  }

  test("each request of two questions with thinking and parallel calls is taken, the same ones after streams and whole answers", async () => {
    expect(await talk("streamed")).toEqual(await talk("whole"))
  })
})

/** What the context is: not the tools, nor what asks for a stream. The SDK names Gemini's calls, which have no ids, by chance. */
function comparable(body: object): unknown {
  const { stream: _, stream_options: __, tools: ___, ...rest } = body as Readonly<Record<string, unknown>>
  return JSON.parse(JSON.stringify(rest), (key, value: unknown) => (key === "id" && "contents" in rest ? "id" : value))
}
