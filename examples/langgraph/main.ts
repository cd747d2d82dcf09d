/** A graph that waits in one process and goes on in another, a fork, and a thread that is moved in. */
import { Command } from "@langchain/langgraph"
import { MemorySaver } from "@langchain/langgraph-checkpoint"
import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { createGraph } from "./graph.ts"
import { moveThread } from "./move-thread.ts"

const config = { configurable: { thread_id: "trip-1" } }

/** What each process does at its start: a repository and a saver, which keeps the newest 100 checkpoints of a thread. */
function openRepository(): { readonly sessions: Sessions; readonly checkpointer: SessionsSaver } {
  const sessions = createSessions({ storage: createFileStorage({ root: ".sessions" }) })
  return { sessions, checkpointer: new SessionsSaver({ sessions, keep: 100 }) }
}

const first = openRepository()
await createGraph(first.checkpointer).invoke({ city: "Paris" }, config)
await first.checkpointer.close()
await first.sessions.close()

const second = openRepository()
const graph = createGraph(second.checkpointer)
const waiting = await graph.getState(config)
for (const { interrupts } of waiting.tasks) for (const { value } of interrupts) console.log(`waits: ${String(value)}`)
console.log((await graph.invoke(new Command({ resume: "yes" }), config)).steps.join(", "))

const fork = await graph.updateState(waiting.config, { city: "Lyon" }, "plan")
await graph.invoke(null, fork)
console.log((await graph.invoke(new Command({ resume: "no" }), config)).steps.join(", "))
let states = 0
for await (const _ of graph.getStateHistory(config)) states++
console.log(`states of both branches: ${states}`)

const old = new MemorySaver()
const moving = { configurable: { thread_id: "trip-2" } }
await createGraph(old).invoke({ city: "Rome" }, moving)
console.log(`moved: ${await moveThread(old, second.checkpointer, "trip-2")} checkpoints`)
console.log((await graph.invoke(new Command({ resume: "yes" }), moving)).steps.join(", "))
await second.checkpointer.close()
await second.sessions.close()
