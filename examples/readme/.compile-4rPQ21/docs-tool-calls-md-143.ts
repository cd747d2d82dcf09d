import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { aiSdkResult, appendAiSdkStream, toAiSdk } from "@sessions/providers/ai-sdk"
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { recordAiSdk } from "@sessions/tool-calls/ai-sdk"
import { isStepCount, type LanguageModel, streamText, tool } from "ai"
import { z } from "zod"

const charge = tool({
  inputSchema: z.object({ amount: z.number() }),
  execute: async ({ amount }, options) => `charged ${amount} under ${executionOf(options).key}`,
})
const sessions = createSessions({ storage: createMemoryStorage() })

export async function ask(model: Exclude<LanguageModel, string>, content: string): Promise<void> {
  const session = await sessions.openOrCreate("shop")
  const calls = createToolCalls(session, { tools: { charge: "never" }, toResult: aiSdkResult })
  await session.turn(async (turn) => {
    await turn.append([{ type: "message", message: { role: "user", content } }, calls.record])
    const { request } = toAiSdk(await turn.context(), { model })
    const { append, ...recorded } = recordAiSdk({ session: turn, calls, tools: { charge } })
    // The SDK's options `tools`, `onLanguageModelCallEnd` and `onStepEnd`.
    const { stream } = streamText({ model, stopWhen: isStepCount(10), ...request, ...recorded })
    await appendAiSdkStream({ append }, stream, { model })
  })
}
export {}
