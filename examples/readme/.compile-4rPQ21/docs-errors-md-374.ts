import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
await sessions.create({ id: "chat-1" })
const { damaged, diagnostics } = await sessions.verify("chat-1")
for (const { code, message, seq } of diagnostics) console.error(seq, code, message)
console.log(damaged) // false
export {}
