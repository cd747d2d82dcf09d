/**
 * A process with a graph over files: `graph-process.ts ROOT start` runs it to its interrupt, prints it and stays until the process is killed;
 * `graph-process.ts ROOT resume ANSWER` answers and prints the last state.
 */
import { writeSync } from "node:fs"
import { text } from "node:stream/consumers"
import { Command } from "@langchain/langgraph"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { CONFIG, createGraph } from "./graph.ts"

const [root = "", command = "", answer = ""] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
const checkpointer = new SessionsSaver({ sessions })
const graph = createGraph(checkpointer)
if (command === "start") {
  const result = await graph.invoke({ place: "Paris" }, { ...CONFIG, durability: "sync" })
  writeSync(1, `${JSON.stringify(result)}\n`)
  // Nothing is written to it.
  await text(process.stdin)
} else {
  writeSync(1, `${JSON.stringify(await graph.invoke(new Command({ resume: answer }), CONFIG))}\n`)
}
await checkpointer.close()
await sessions.close()
