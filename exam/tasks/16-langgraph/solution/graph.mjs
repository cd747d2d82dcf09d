import { Annotation, END, START, StateGraph } from "@langchain/langgraph"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"

const [root, thread, ...texts] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
const checkpointer = new SessionsSaver({ sessions, keep: 20 })
const State = Annotation.Root({ messages: Annotation({ reducer: (a, b) => [...a, ...b], default: () => [] }) })
const graph = new StateGraph(State)
  .addNode("answer", ({ messages }) => ({ messages: [`re: ${messages.at(-1)}`] }))
  .addEdge(START, "answer")
  .addEdge("answer", END)
  .compile({ checkpointer })

const config = { configurable: { thread_id: thread } }
for (const text of texts) await graph.invoke({ messages: [text] }, config)
const { messages = [] } = (await graph.getState(config)).values
if (texts.length > 0) console.log(messages.length)
else for (const message of messages) console.log(message)
await checkpointer.close()
await sessions.close()
