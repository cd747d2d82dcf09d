/**
 * The turn with the runner of the OpenAI Agents SDK, in a lease. A program keeps the state of a run that waits for approval, by the id of its call: a process that
 * has stood still may keep the state of a call that nobody will make. The next process goes on with the one of the last answer.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { Agent, type AgentInputItem, Runner, RunState, tool } from "@openai/agents-core"
import { assistantMessage, functionCall, ScriptedModel, type ScriptedModelInput } from "@openai/agents-core/testing"
import { agentResult, createAgentSession, openAgentLog } from "@sessions/openai-agents"
import type { Session } from "@sessions/core"
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/openai-agents"
import { z } from "zod"
import { LEASE, SESSION, stateFile } from "./plan.ts"
import type { Work } from "./ways.ts"

export async function runAgents(work: Work): Promise<void> {
  const log = await openAgentLog(work.sessions, SESSION)
  await log.turn(() => runOnce(log, work), { lease: LEASE })
}

async function runOnce(log: Session, { sessions, plan, tools: executors, onUnknown }: Work): Promise<void> {
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
  const done = [assistantMessage("Done.")]
  const asked = (await log.callStates())?.calls.at(-1)?.callId
  const isKept = asked !== undefined && existsSync(stateFile(plan.folder, asked))
  // An answer of its own: without a saved state nobody goes on with a call that was asked for before.
  const id = isKept ? asked : `a${plan.n}`
  const file = stateFile(plan.folder, id)
  const agent = isKept ? agentWith(done) : agentWith([functionCall("charge", { id }, { callId: id })], done)
  if (isKept) {
    const resumed = await calls.resume({ charge: executors.charge })
    // The SDK adds the question and the call at once, so that no record is between them.
    if (resumed.some(({ outcome, call }) => outcome === "left" && call.state !== "unrecorded")) return
  } else {
    const { state } = await runner.run(agent, "Charge.", { session })
    writeFileSync(`${file}.new`, state.toString())
    renameSync(`${file}.new`, file)
  }
  const state = await RunState.fromString(agent, readFileSync(file, "utf8"))
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  await runner.run(agent, state, { session })
}
