import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createSearch } from "@sessions/search"
import { createSqliteIndex } from "@sessions/search/sqlite"

const storage = createFileStorage({ root: "./.sessions" })
const search = createSearch({ storage, index: createSqliteIndex({ folder: "./.sessions/.search" }) })
const sessions = createSessions({ storage, hooks: search.hooks })

const session = await sessions.create({ cwd: "/project" })
await session.append({ type: "message", message: { role: "user", content: "Where is the deploy key?" } })

const { hits } = await search.search("key dep")
for (const { session, role, timestamp, snippet } of hits) {
  const line = snippet.map(({ text, match }) => (match ? `[${text}]` : text)).join("")
  console.log(session, role, timestamp, line) // … user … Where is the [deploy] [key]?
}
await search.close()
await sessions.close()
export {}
