/** The SDK's own runner with a scripted model over our session, on every storage that needs no server. */
import { Agent, OutputGuardrailTripwireTriggered } from "@openai/agents-core"
import { assistantMessage, functionCall, modelError, ScriptedModel } from "@openai/agents-core/testing"
import { expect, test } from "vitest"
import { agentWith, runner } from "./agents.ts"
import { bothWays, flowTests } from "./flows.ts"
import { STORAGES } from "./open-storages.ts"

for (const name of STORAGES) flowTests(name)

test("a streamed run adds the same items", async () => {
  const items = await bothWays("files", async (open) => {
    const agent = agentWith(
      [functionCall("look_up", { place: "Paris" }, { callId: "c1" })],
      [assistantMessage("In France.")],
    )
    const result = await runner.run(agent, "Where is Paris?", { session: open(), stream: true })
    for await (const _ of result) {
      // Reads the stream to its end.
    }
    await result.completed
  })
  expect(items).toHaveLength(4)
})

test("a model error adds nothing", async () => {
  const items = await bothWays("files", async (open) => {
    const agent = agentWith(modelError(new Error("no answer")))
    await expect(runner.run(agent, "Where is Paris?", { session: open() })).rejects.toThrow("no answer")
  })
  expect(items).toEqual([])
})

test("a tripped output guardrail leaves what the SDK's own session has", async () => {
  const items = await bothWays("files", async (open) => {
    const agent = new Agent({
      name: "guide",
      model: new ScriptedModel([[assistantMessage("secret")]]),
      outputGuardrails: [{ name: "no secrets", execute: async () => ({ tripwireTriggered: true, outputInfo: {} }) }],
    })
    await expect(runner.run(agent, "Tell me", { session: open() })).rejects.toThrow(OutputGuardrailTripwireTriggered)
  })
  expect(items).toMatchObject([{ role: "user" }])
})
