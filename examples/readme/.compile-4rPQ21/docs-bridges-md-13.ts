import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.openOrCreate("langgraph.thread-42", {
  kind: "langgraph",
  metadata: { thread_id: "thread 42", user: "ada" },
  entries: [{ type: "message", message: { role: "user", content: "hello" } }],
})
const page = await sessions.list({ kind: "langgraph", metadata: { user: "ada" }, limit: 20 })
console.log(session.header.kind, page.sessions.length, page.next)
await sessions.close()
export {}
