/**
 * A process that runs agents on the session `shared`: `runs-process.ts STORAGE FOLDER COMMAND …`.
 *
 * - `turns NAME COUNT`: runs with a tool; prints the number of each that has ended;
 * - `ask`: a run that waits for the approval of a tool; prints its state, and stays until the process is killed;
 * - `resume`: reads that state from the standard input, approves, and prints the answer.
 */
import { writeSync } from "node:fs"
import { text } from "node:stream/consumers"
import { type AgentInputItem, RunState } from "@openai/agents-core"
import { assistantMessage, functionCall } from "@openai/agents-core/testing"
import { createSessions } from "@sessions/core"
import { createAgentSession } from "@sessions/openai-agents"
import { agentWith, askingAgent, runner } from "./agents.ts"
import { type IN_FOLDERS, openInFolder } from "./folder-storages.ts"

const [storage = "", folder = "", command = "", first = "", second = ""] = process.argv.slice(2)
const sessions = createSessions({ storage: openInFolder(storage as (typeof IN_FOLDERS)[number], folder) })
const session = createAgentSession<AgentInputItem>({ sessions, sessionId: "shared" })

if (command === "turns") {
  for (let n = 0; n < Number(second); n++) {
    const callId = `${first}${n}`
    const agent = agentWith(
      [functionCall("look_up", { place: "Paris" }, { callId })],
      [assistantMessage(`to ${callId}`)],
    )
    await runner.run(agent, callId, { session })
    writeSync(1, `${n}\n`)
  }
} else if (command === "ask") {
  const agent = askingAgent([functionCall("look_up", { place: "Paris" }, { callId: "c1" })])
  const { state } = await runner.run(agent, "Where is Paris?", { session })
  writeSync(1, `${state.toString()}\n`)
  // Until it is killed: nothing is written to it.
  await text(process.stdin)
} else if (command === "resume") {
  const agent = askingAgent([assistantMessage("In France.")])
  const state = await RunState.fromString(agent, await text(process.stdin))
  for (const interruption of state.getInterruptions()) state.approve(interruption)
  const { finalOutput } = await runner.run(agent, state, { session })
  writeSync(1, `${finalOutput}\n`)
}
await session.close()
await sessions.close()
