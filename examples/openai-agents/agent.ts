/** An agent that books a hotel with a person's approval. Replace the scripted model with yours. */
import { Agent, tool } from "@openai/agents-core"
import { ScriptedModel, type ScriptedModelInput } from "@openai/agents-core/testing"
import { executionOf, type ToolCalls } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/openai-agents"
import { z } from "zod"

/** The hotel's side: it takes a key, and books once under it. */
export type Book = (city: string, key: string) => string | Promise<string>

export function createAgent(calls: ToolCalls, bookAt: Book, ...answers: ScriptedModelInput[]): Agent {
  const book = tool({
    name: "book",
    description: "Books a hotel",
    parameters: z.object({ city: z.string() }),
    // The SDK stores the call before its tool runs.
    needsApproval: true,
    execute: ({ city }, _, details) => bookAt(city, executionOf(details ?? {}).key),
  })
  return new Agent({
    name: "guide",
    tools: wrapTools(calls, [book]),
    model: new ScriptedModel(answers),
    modelSettings: { parallelToolCalls: false },
  })
}
