import { Annotation, END, START, StateGraph } from "@langchain/langgraph"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const checkpointer = new SessionsSaver({ sessions })

const State = Annotation.Root({ messages: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }) })
const graph = new StateGraph(State)
  .addNode("answer", () => ({ messages: ["hello"] }))
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile({ checkpointer })

const config = { configurable: { thread_id: "ada" } }
await graph.invoke({ messages: ["hi"] }, config)
console.log((await graph.getState(config)).values)

await checkpointer.close()
await sessions.close()
export {}
