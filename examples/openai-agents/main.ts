/** A run that waits for approval in one process and goes on in another. */
import { type AgentInputItem, Runner, RunState } from "@openai/agents-core"
import { assistantMessage, functionCall } from "@openai/agents-core/testing"
import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { type AgentSession, createAgentSession, listAgentSessions } from "@sessions/openai-agents"
import { createAgent } from "./agent.ts"

const runner = new Runner({ tracingDisabled: true })

function openRepository(): Sessions {
  return createSessions({ storage: createFileStorage({ root: ".sessions" }) })
}

function openSession(sessions: Sessions): AgentSession<AgentInputItem> {
  return createAgentSession<AgentInputItem>({ sessions, sessionId: "trip-1", metadata: { user: "ada" } })
}

/** Returns the state of the run that waits. The session has the question and the call. */
async function ask(): Promise<string> {
  const sessions = openRepository()
  const agent = createAgent([functionCall("book", { city: "Paris" }, { callId: "call-1" })])
  const { interruptions, state } = await runner.run(agent, "Book a hotel in Paris.", { session: openSession(sessions) })
  for (const { name, arguments: given } of interruptions) console.log(`waits for approval: ${name} ${given}`)
  await sessions.close()
  return state.toString()
}

/** Another process: it has the text of the state and the storage. */
async function approve(text: string): Promise<void> {
  const sessions = openRepository()
  const agent = createAgent([assistantMessage("Your hotel in Paris is booked.")])
  const state = await RunState.fromString(agent, text)
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  const { finalOutput } = await runner.run(agent, state, { session: openSession(sessions) })
  console.log(`answer: ${finalOutput}`)
  await sessions.close()
}

async function askAgain(): Promise<void> {
  const sessions = openRepository()
  const session = openSession(sessions)
  const { finalOutput } = await runner.run(createAgent([assistantMessage("In Paris.")]), "Where is it?", { session })
  console.log(`answer: ${finalOutput}`)
  for (const item of await session.getItems()) console.log(`  ${"role" in item ? item.role : item.type}`)
  const { sessions: chats } = await listAgentSessions(sessions, { metadata: { user: "ada" } })
  for (const { sessionId, firstPrompt } of chats) console.log(`chat of ada: ${sessionId}, ${firstPrompt}`)
  await sessions.close()
}

await approve(await ask())
await askAgain()
