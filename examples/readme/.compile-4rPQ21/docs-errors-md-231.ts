import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
await sessions.create({ id: "chat-1" })
const { migrated } = await sessions.migrate("chat-1") // a log of this version stays as it is
console.log(migrated) // false
export {}
