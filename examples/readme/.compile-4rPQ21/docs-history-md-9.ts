import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { recordPrompts } from "@sessions/history"
import { createSqliteHistory } from "@sessions/history/sqlite"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const history = createSqliteHistory({ path: "./.sessions/history.db" })
const session = await sessions.create({ cwd: "/project" })
recordPrompts(session, history)

await session.append({ type: "message", message: { role: "user", content: "fix the tests" } })
await session.append({ type: "message", message: { role: "user", content: "now run them" } })
for (const { prompt, at } of await history.recent()) console.log(at.slice(0, 2), prompt)
for (const { prompt, cwd } of await history.search("test fix")) console.log(cwd, prompt)
await history.close()
await sessions.close()
export {}
