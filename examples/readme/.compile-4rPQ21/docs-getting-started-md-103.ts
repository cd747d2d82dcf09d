import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"

const storage = createIndexedDbStorage({ database: "my-agent" })
const sessions = createSessions({ storage })
const session = await sessions.openOrCreate("chat-1")

// Shows what other tabs append, until the signal fires or the session is closed.
const shown: string[] = []
session.on("appended", ({ entries }) => shown.push(...entries.map(({ type }) => type)))
session.on("foreign", ({ entries }) => shown.push(...entries.map(({ type }) => type)))
const stop = new AbortController()
const following = session.follow({ signal: stop.signal }).catch(() => {})

await session.append({ type: "message", message: { role: "user", content: "hello" } })
console.log(shown.join()) // message

const { messages } = await session.messages({ limit: 50 }) // what a chat shows, newest page first
console.log(messages.length) // 1
stop.abort()
await following
await sessions.close()
export {}
