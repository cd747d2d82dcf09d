/**
 * Providers bill a prefix that they have cached at a fraction of the price, so a request must begin with the request before it. What the model
 * gets in the runs of several processes is recorded.
 */
import { Agent, type AgentInputItem, tool } from "@openai/agents-core"
import {
  assistantMessage,
  functionCall,
  modelError,
  ScriptedModel,
  type ScriptedModelInput,
} from "@openai/agents-core/testing"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createAgentSession } from "@sessions/openai-agents"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { runs } from "../../../.config/runs.ts"
import { runner } from "./agents.ts"

const reasoning = (id: string): AgentInputItem => ({
  type: "reasoning",
  id,
  content: [],
  providerData: { encrypted_content: "E" },
})

const step = fc.record({
  thinks: fc.boolean(),
  says: fc.boolean(),
  calls: fc.array(fc.constantFrom("look_up", "fails"), { maxLength: 2 }),
})
const turn = fc.record({ steps: fc.array(step, { maxLength: 2 }), fails: fc.boolean(), streams: fc.boolean() })

let ids = 0

function answersOf({ steps, fails }: typeof turn extends fc.Arbitrary<infer T> ? T : never): ScriptedModelInput[] {
  const answers = steps.map(({ thinks, says, calls }) => [
    ...(thinks ? [reasoning(`rs_${ids++}`)] : []),
    ...(says || calls.length === 0 ? [assistantMessage("I look.")] : []),
    ...calls.map((name) => functionCall(name, { place: "Paris" }, { callId: `c${ids++}` })),
  ])
  // A step without a call ends the run.
  const end = answers.findIndex((_, n) => steps[n]?.calls.length === 0)
  const left = (end < 0 ? [...answers, [assistantMessage("end")]] : answers.slice(0, end + 1)) as ScriptedModelInput[]
  return fails ? [...left.slice(0, -1), modelError(new Error("503"))] : left
}

/** The SDK takes the ids off calls before it gives them to a session (`stripTransientCallIds`, agents-core 0.20.0), whatever session that is. */
function asStored(item: object): string {
  const isCall = (item as { readonly type?: unknown }).type === "function_call"
  return JSON.stringify(item, (key, value: unknown) => (isCall && key === "id" ? undefined : value))
}

const lookUp = (name: string, fails: boolean): ReturnType<typeof tool> =>
  tool({
    name,
    description: "Looks a place up",
    parameters: z.object({ place: z.string() }),
    execute: async ({ place }) => (fails ? Promise.reject(new Error(`no ${place}`)) : `${place} is in France`),
  }) as ReturnType<typeof tool>

test("what a model gets begins with what it got before, in a run and in the runs of other processes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 2, maxLength: 4 }), async (turns) => {
      const storage = createMemoryStorage()
      /** What a model got, as JSON. */
      let last: readonly string[] = []
      for (const [n, one] of turns.entries()) {
        const model = new ScriptedModel(answersOf(one))
        const agent = new Agent({ name: "guide", model, tools: [lookUp("look_up", false), lookUp("fails", true)] })
        const session = createAgentSession<AgentInputItem>({ sessions: createSessions({ storage }), sessionId: "s" })
        const failed = await (one.streams
          ? runner.run(agent, `question ${n}`, { session, stream: true }).then((result) => result.completed)
          : runner.run(agent, `question ${n}`, { session })
        ).then(
          () => false,
          () => true,
        )
        expect(failed).toBe(one.fails)
        for (const { request } of model.calls) {
          const input = (request.input as readonly object[]).map(asStored)
          // A run whose model has failed is not stored, so the next request begins with the history before it.
          expect(input.slice(0, last.length)).toEqual(last)
          if (!one.fails) last = input
        }
      }
    }),
    { numRuns: runs(12) },
  )
})
