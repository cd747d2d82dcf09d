import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
const entry = { type: "message", message: { role: "user", content: "hello" } } as const
await session.append(entry, { signal: AbortSignal.abort() }).catch((error) => {
  console.log(hasCode(error, "aborted"), "sent" in error && error.sent) // true false
})
export {}
