/**
 * A run that waits for approval in one process and goes on in another, which is lost when the hotel has booked; a third one asks the hotel, and
 * the hotel is booked once.
 */
import { type Agent, type AgentInputItem, Runner, RunState } from "@openai/agents-core"
import { assistantMessage, functionCall } from "@openai/agents-core/testing"
import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import {
  agentResult,
  type AgentSession,
  createAgentSession,
  listAgentSessions,
  openAgentLog,
} from "@sessions/openai-agents"
import { createToolCalls, type ToolCalls } from "@sessions/tool-calls"
import { type Book, createAgent } from "./agent.ts"

const runner = new Runner({ tracingDisabled: true })
/** The hotel: its bookings by their keys. */
const booked = new Map<string, string>()

interface Process {
  readonly sessions: Sessions
  readonly session: AgentSession<AgentInputItem>
  readonly calls: ToolCalls
}

async function startProcess(): Promise<Process> {
  const sessions = createSessions({ storage: createFileStorage({ root: ".sessions" }) })
  const metadata = { user: "ada" }
  const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "trip-1", metadata })
  const calls = createToolCalls(await openAgentLog(sessions, "trip-1", { metadata }), {
    tools: { book: "never" },
    toResult: agentResult,
    onUnknown: ({ key = "" }) => {
      const output = booked.get(key)
      console.log(`the hotel is asked by the key of the call: ${output ?? "no booking"}`)
      return output === undefined ? "not done" : { output }
    },
  })
  return { sessions, session, calls }
}

const book: Book = (city, key) => {
  booked.set(key, `booked in ${city}`)
  return `booked in ${city}`
}

/** Returns the state of the run that waits. The session has the question and the call. */
async function ask(): Promise<string> {
  const { sessions, session, calls } = await startProcess()
  const agent = createAgent(calls, book, [functionCall("book", { city: "Paris" }, { callId: "call-1" })])
  const { interruptions, state } = await runner.run(agent, "Book a hotel in Paris.", { session })
  for (const { name, arguments: given } of interruptions) console.log(`waits for approval: ${name} ${given}`)
  await sessions.close()
  return state.toString()
}

/** Another process: it has the text of the state and the storage. It is lost when the hotel has booked. */
async function approveAndGetLost(text: string): Promise<void> {
  const { session, calls } = await startProcess()
  await new Promise<void>((isLost) => {
    const neverEnds: Book = (city, key) => {
      void book(city, key)
      isLost()
      return new Promise(() => undefined)
    }
    const agent = createAgent(calls, neverEnds)
    void approved(agent, text).then((state) => runner.run(agent, state, { session }))
  })
  console.log("the process is lost when the hotel has booked")
}

/** A third process settles what the second has left, and goes on with the run. */
async function goOn(text: string): Promise<void> {
  const { sessions, session, calls } = await startProcess()
  const agent = createAgent(calls, book, [assistantMessage("Your hotel in Paris is booked.")])
  await calls.resume({})
  const { finalOutput } = await runner.run(agent, await approved(agent, text), { session })
  console.log(`answer: ${finalOutput}`)
  console.log(`bookings: ${booked.size}`)
  await sessions.close()
}

async function approved(agent: Agent, text: string): Promise<RunState<unknown, Agent>> {
  const state = await RunState.fromString(agent, text)
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  return state
}

async function askAgain(): Promise<void> {
  const { sessions, session, calls } = await startProcess()
  const agent = createAgent(calls, book, [assistantMessage("In Paris.")])
  const { finalOutput } = await runner.run(agent, "Where is it?", { session })
  console.log(`answer: ${finalOutput}`)
  for (const item of await session.getItems()) console.log(`  ${"role" in item ? item.role : item.type}`)
  const { sessions: chats } = await listAgentSessions(sessions, { metadata: { user: "ada" } })
  for (const { sessionId, firstPrompt } of chats) console.log(`chat of ada: ${sessionId}, ${firstPrompt}`)
  await sessions.close()
}

const state = await ask()
await approveAndGetLost(state)
await goOn(state)
await askAgain()
