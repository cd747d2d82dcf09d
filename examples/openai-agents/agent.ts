/** An agent that books a hotel with a person's approval. Replace the scripted model with yours. */
import { Agent, tool } from "@openai/agents-core"
import { ScriptedModel, type ScriptedModelInput } from "@openai/agents-core/testing"
import { z } from "zod"

export function createAgent(...answers: ScriptedModelInput[]): Agent {
  const book = tool({
    name: "book",
    description: "Books a hotel",
    parameters: z.object({ city: z.string() }),
    needsApproval: true,
    execute: async ({ city }) => `booked in ${city}`,
  })
  return new Agent({ name: "guide", tools: [book], model: new ScriptedModel(answers) })
}
