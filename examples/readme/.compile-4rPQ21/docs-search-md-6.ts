import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createMemoryIndex, createSearch } from "@sessions/search"

const storage = createMemoryStorage()
const search = createSearch({ storage, index: createMemoryIndex() })
const sessions = createSessions({ storage, hooks: search.hooks })
const session = await sessions.create({ cwd: "/project" })
const { ids } = await session.append({ type: "message", message: { role: "user", content: "the deploy key is abc" } })

const page = await search.search("Deploy KEY", { cwd: "/project", role: "user", limit: 10 })
console.log(page.hits.map(({ entryId }) => entryId === ids[0])) // [true]

await session.tombstone(ids[0]!)
console.log((await search.search("deploy key")).hits) // []
export {}
