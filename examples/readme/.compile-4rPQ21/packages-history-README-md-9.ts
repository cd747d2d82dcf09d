import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { recordPrompts } from "@sessions/history"
import { createSqliteHistory } from "@sessions/history/sqlite"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const history = createSqliteHistory({ path: "./.sessions/history.db", onError: console.error })

const session = await sessions.create({ cwd: process.cwd() })
recordPrompts(session, history) // from now on, each user message that the session stores

await session.append({ type: "message", message: { role: "user", content: "fix the tests" } })
const [newest] = await history.recent({ limit: 1 }) // arrow-up
const older = await history.recent({ limit: 1, ...(newest && { before: newest.id }) }) // and again
const found = await history.search("fix te", { cwd: process.cwd() }) // words may be typed in part
console.log(newest?.prompt, older.length, found.length)

await history.close()
await sessions.close()
export {}
