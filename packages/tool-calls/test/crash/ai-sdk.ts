/** The turn with the AI SDK, which runs the tools, and a scripted model. */
import { aiSdkResult, appendAiSdkStream, fromAiSdk, toAiSdk } from "@sessions/providers/ai-sdk"
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { recordAiSdk } from "@sessions/tool-calls/ai-sdk"
import { generateText, isStepCount, streamText, tool } from "ai"
import { z } from "zod"
import { scriptedModel, type Step } from "../scripted-model.ts"
import { question } from "../world.ts"
import { ANSWERS, LEASE, SESSION, TOOLS } from "./plan.ts"
import { answersIn, blocksOf, stageOf, type Work } from "./ways.ts"

const STEPS: readonly Step[] = [
  ...ANSWERS.map((_, n) => ({ calls: blocksOf(n).map(({ id, name, arguments: input }) => ({ id, name, input })) })),
  { text: "Done." },
]

export async function runAiSdk(
  { sessions, tools: executors, onUnknown }: Work,
  way: "streamText" | "generateText",
): Promise<void> {
  const session = await sessions.open(SESSION)
  const calls = createToolCalls(session, { tools: TOOLS, toResult: aiSdkResult, onUnknown })
  const inputSchema = z.object({ id: z.string() })
  const tools = {
    charge: tool({
      inputSchema,
      execute: (input, options) =>
        executors.charge({ ...executionOf(options), arguments: input, signal: options.abortSignal }),
    }),
    look: tool({
      inputSchema,
      execute: (input, options) => executors.look({ ...executionOf(options), arguments: input, signal: undefined }),
    }),
  }
  await session.turn(
    async (turn) => {
      const stage = await stageOf(turn)
      if (stage === "ended") return
      if (stage === "begin") await turn.append([question(), calls.record])
      const resumed = await calls.resume(executors)
      if (resumed.some(({ outcome }) => outcome === "held" || outcome === "left")) return
      const { model } = scriptedModel(STEPS.slice(await answersIn(turn)))
      const { request } = toAiSdk(await turn.context(), { model })
      const { append, ...recorded } = recordAiSdk({ session: turn, calls, tools })
      const options = { model, stopWhen: isStepCount(5), ...request, ...recorded, maxRetries: 0 }
      if (way === "generateText") await append(fromAiSdk(await generateText(options)))
      else await appendAiSdkStream({ append }, streamText({ ...options, onError: () => undefined }).stream, { model })
    },
    { lease: LEASE },
  )
}
