/** Agents with a scripted model and one tool. */
import { Agent, Runner, tool } from "@openai/agents-core"
import { ScriptedModel, type ScriptedModelInput } from "@openai/agents-core/testing"
import { z } from "zod"

export const runner = new Runner({ tracingDisabled: true })

export function agentWith(...steps: ScriptedModelInput[]): Agent {
  return new Agent({ name: "guide", model: new ScriptedModel(steps), tools: [lookUp(false)] })
}

/** Its tool waits for approval. */
export function askingAgent(...steps: ScriptedModelInput[]): Agent {
  return new Agent({ name: "guide", model: new ScriptedModel(steps), tools: [lookUp(true)] })
}

/** The tool's output is the answer of the run; the guardrail blocks it if it is `secret`. */
export function guardedAgent(...steps: ScriptedModelInput[]): Agent {
  return new Agent({
    name: "guide",
    model: new ScriptedModel(steps),
    tools: [lookUp(true)],
    toolUseBehavior: "stop_on_first_tool",
    outputGuardrails: [
      {
        name: "no secrets",
        execute: async ({ agentOutput }) => ({
          tripwireTriggered: agentOutput.includes("secret"),
          outputInfo: {},
        }),
      },
    ],
  })
}

function lookUp(needsApproval: boolean): ReturnType<typeof tool> {
  return tool({
    name: "look_up",
    description: "Looks a place up",
    parameters: z.object({ place: z.string() }),
    needsApproval,
    execute: async ({ place }) => `${place} is in France`,
  }) as ReturnType<typeof tool>
}
