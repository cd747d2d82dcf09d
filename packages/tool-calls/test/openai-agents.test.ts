/** Function tools of the OpenAI Agents SDK that are recorded, with the SDK's own runner and a scripted model. */
import { Agent, type AgentInputItem, Runner, RunState, tool } from "@openai/agents-core"
import { assistantMessage, functionCall, ScriptedModel, type ScriptedModelInput } from "@openai/agents-core/testing"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { agentResult, createAgentSession, openAgentLog } from "@sessions/openai-agents"
import { createToolCalls, executionOf, type ToolCallsOptions } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/openai-agents"
import { expect, test } from "vitest"
import { z } from "zod"
import { codeOf, stored } from "./world.ts"

const runner = new Runner({ tracingDisabled: true })
const charge = [functionCall("charge", { amount: 5 }, { callId: "a" })]

interface Setting {
  readonly execute?: (key: string) => unknown
  readonly needsApproval?: boolean
  readonly onUnknown?: ToolCallsOptions["onUnknown"]
}

/** A process that has the session `chat` open, and an agent with these answers. */
async function startProcess(location: MemoryLocation, answers: readonly ScriptedModelInput[], o: Setting = {}) {
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "chat" })
  const log = await openAgentLog(sessions, "chat")
  const { execute = () => "charged", needsApproval = true, onUnknown } = o
  const calls = createToolCalls(log, {
    tools: { charge: "never" },
    toResult: agentResult,
    ...(onUnknown === undefined ? {} : { onUnknown }),
  })
  const tools = [
    tool({
      name: "charge",
      description: "Charges the card",
      parameters: z.object({ amount: z.number() }),
      needsApproval,
      execute: async (_, __, details) => execute(executionOf(details ?? {}).key),
    }),
  ]
  const model = new ScriptedModel([...answers])
  const agent = new Agent({
    name: "shop",
    model,
    tools: wrapTools(calls, tools),
    modelSettings: { parallelToolCalls: false },
  })
  return { session, log, calls, agent, model }
}

type Process = Awaited<ReturnType<typeof startProcess>>

/** Runs until nothing waits for approval. */
async function runToEnd({ agent, session }: Process, input: string | RunState<undefined, Agent>): Promise<unknown> {
  let result = await runner.run(agent, input, { session })
  while (result.interruptions.length > 0) {
    for (const interruption of result.interruptions) result.state.approve(interruption)
    result = await runner.run(agent, result.state, { session })
  }
  return result.finalOutput
}

test("the call and its start are in the log before the tool runs, and its result is in the history once", async () => {
  const location = createMemoryLocation()
  const seen: unknown[] = []
  const process = await startProcess(location, [charge, [assistantMessage("Done.")]], {
    execute: async (key) => {
      const other = await openAgentLog(createSessions({ storage: createMemoryStorage({ location }) }), "chat")
      seen.push((await other.callStates())?.calls[0], key)
      return { charged: 5 }
    },
  })
  expect(await runToEnd(process, "Charge 5.")).toBe("Done.")
  const [state, key] = seen as [{ key: string }, string]
  expect(state).toMatchObject({ state: "unknown", attempt: 1, key })
  const items = await process.session.getItems()
  expect(items.map((item) => ("role" in item ? item.role : item.type))).toEqual([
    "user",
    "function_call",
    "function_call_result",
    "assistant",
  ])
  expect(items[2]).toMatchObject({ callId: "a", output: { type: "text", text: '{"charged":5}' } })
  expect((await process.log.context()).messages.map(({ message }) => message.role)).toEqual([
    "user",
    "assistant",
    "toolResult",
    "assistant",
  ])
  // What the model got in the run is what a later run sends.
  expect(process.model.calls.at(-1)?.request.input[2]).toEqual(items[2])
})

test("an error of a tool is what the SDK makes of it", async () => {
  const process = await startProcess(createMemoryLocation(), [charge, [assistantMessage("Refused.")]], {
    execute: () => Promise.reject(new Error("The card was refused.")),
  })
  await runToEnd(process, "Charge 5.")
  const [result] = (await process.session.getItems()).slice(2, 3)
  expect(result).toMatchObject({
    output: { text: expect.stringContaining("An error occurred while running the tool") },
  })
  expect(process.model.calls.at(-1)?.request.input.at(-1)).toEqual(result)
})

test("a run that was killed in its tool goes on in another process, where the outcome is found out", async () => {
  const location = createMemoryLocation()
  const bank: string[] = []
  const killed = await startProcess(location, [charge], {
    execute: (key) => {
      bank.push(key)
      return new Promise(() => undefined)
    },
  })
  const { state, interruptions } = await runner.run(killed.agent, "Charge 5.", { session: killed.session })
  const saved = state.toString()
  for (const interruption of interruptions) state.approve(interruption)
  void runner.run(killed.agent, state, { session: killed.session })
  await expect.poll(() => bank.length).toBe(1)

  const settle = async (onUnknown?: ToolCallsOptions["onUnknown"]) => {
    const next = await startProcess(location, [[assistantMessage("Done.")]], {
      execute: (key) => bank.push(key),
      ...(onUnknown === undefined ? {} : { onUnknown }),
    })
    const resumed = await RunState.fromString(next.agent, saved)
    for (const interruption of resumed.getInterruptions()) resumed.approve(interruption)
    await next.calls.resume({})
    return { next, run: runToEnd(next, resumed as RunState<undefined, Agent>) }
  }
  // Nobody knows: the run does not go on.
  await expect((await settle()).run).rejects.toThrow("was started by another run")
  const { next, run } = await settle(({ key = "" }) => (bank.includes(key) ? { output: "charged" } : "not done"))
  expect(await run).toBe("Done.")
  expect(bank.length).toBe(1)
  const items = await next.session.getItems()
  expect(items.map((item) => ("role" in item ? item.role : item.type))).toEqual([
    "user",
    "function_call",
    "function_call_result",
    "assistant",
  ])
})

test("a call that was started and then rejected has no result of the rejection: it may have run", async () => {
  const location = createMemoryLocation()
  const bank: string[] = []
  const killed = await startProcess(location, [charge], {
    execute: (key) => {
      bank.push(key)
      return new Promise(() => undefined)
    },
  })
  const { state, interruptions } = await runner.run(killed.agent, "Charge 5.", { session: killed.session })
  const saved = state.toString()
  for (const interruption of interruptions) state.approve(interruption)
  void runner.run(killed.agent, state, { session: killed.session })
  await expect.poll(() => bank.length).toBe(1)

  const next = await startProcess(location, [[assistantMessage("I did not charge it.")]])
  const resumed = await RunState.fromString(next.agent, saved)
  for (const interruption of resumed.getInterruptions()) resumed.reject(interruption)
  await runner.run(next.agent, resumed as RunState<undefined, Agent>, { session: next.session })
  const [told] = (await next.log.context()).messages.flatMap(({ message }) =>
    message.role === "toolResult" ? [message.content[0]] : [],
  )
  expect(told).toMatchObject({ text: expect.stringContaining("its outcome is unknown") })
})

test("a tool without approval, and one of several calls of an answer, are not run", async () => {
  let ran = 0
  const execute = () => ran++
  const without = await startProcess(createMemoryLocation(), [charge], { execute, needsApproval: false })
  await expect(runToEnd(without, "Charge 5.")).rejects.toThrow("Append the answer of the model before its calls run.")
  const second = functionCall("charge", { amount: 6 }, { callId: "b" })
  const several = await startProcess(createMemoryLocation(), [[...charge, second]], { execute })
  expect(await codeOf(runToEnd(several, "Charge both."))).not.toBe("resolved")
  expect(ran).toBeLessThan(2)
  expect(await stored(without.log, "tool_start")).toEqual([])
})

test("results of calls that nobody else has answered are added as before", async () => {
  const { session } = await startProcess(createMemoryLocation(), [])
  const items = [
    { type: "function_call", callId: "a", name: "look", arguments: "{}" },
    { type: "function_call_result", callId: "a", name: "look", status: "completed", output: "seen" },
  ] as AgentInputItem[]
  await session.addItems(items.slice(0, 1))
  await session.addItems(items.slice(1))
  await session.addItems(items.slice(1))
  expect(await session.getItems()).toEqual([...items, items[1]])
})
