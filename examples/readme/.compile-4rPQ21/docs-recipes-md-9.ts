import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const session = await sessions.continueRecent({ cwd: "/project", pointer: "terminal-1" })
await sessions.pointers.set("terminal-1", { session: session.id, cwd: "/project" })
const again = await sessions.continueRecent({ cwd: "/project", pointer: "terminal-1" })
console.log(again.id === session.id) // true
export {}
