/** The turn with the runner of the OpenAI Agents SDK. A program keeps the state of a run that waits for approval; the next process goes on with it. */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { Agent, type AgentInputItem, Runner, RunState, tool } from "@openai/agents-core"
import { assistantMessage, functionCall, ScriptedModel, type ScriptedModelInput } from "@openai/agents-core/testing"
import { agentResult, createAgentSession, openAgentLog } from "@sessions/openai-agents"
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/openai-agents"
import { z } from "zod"
import { SESSION, stateFile } from "./plan.ts"
import type { Work } from "./ways.ts"

export async function runAgents({ sessions, plan, tools: executors, onUnknown }: Work): Promise<void> {
  const log = await openAgentLog(sessions, SESSION)
  const session = createAgentSession<AgentInputItem>({ sessions, sessionId: SESSION })
  const calls = createToolCalls(log, { tools: { charge: "never" }, toResult: agentResult, onUnknown })
  const charge = tool({
    name: "charge",
    description: "Charges the card",
    parameters: z.object({ id: z.string() }),
    needsApproval: true,
    execute: (input, _, details) =>
      executors.charge({ ...executionOf(details ?? {}), arguments: input, signal: details?.signal }),
  })
  // The run has ended already.
  const last = (await session.getItems(1)).at(0)
  if (last !== undefined && "role" in last && last.role === "assistant") return
  const runner = new Runner({ tracingDisabled: true })
  const agentWith = (...answers: readonly ScriptedModelInput[]): Agent =>
    new Agent({
      name: "shop",
      model: new ScriptedModel([...answers]),
      tools: wrapTools(calls, [charge]),
      modelSettings: { parallelToolCalls: false },
    })
  const file = stateFile(plan.folder)
  const done = [assistantMessage("Done.")]
  // An answer of its own: without a saved state nobody goes on with a call that was asked for before.
  const id = `a${plan.n}`
  const agent = existsSync(file) ? agentWith(done) : agentWith([functionCall("charge", { id }, { callId: id })], done)
  if (!existsSync(file)) {
    const { state } = await runner.run(agent, "Charge.", { session })
    writeFileSync(`${file}.${plan.n}`, state.toString())
    renameSync(`${file}.${plan.n}`, file)
  } else {
    const resumed = await calls.resume({ charge: executors.charge })
    // The SDK adds the question and the call at once, so that no record is between them.
    if (resumed.some(({ outcome, call }) => outcome === "left" && call.state !== "unrecorded")) return
  }
  const state = await RunState.fromString(agent, readFileSync(file, "utf8"))
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  await runner.run(agent, state, { session })
}
