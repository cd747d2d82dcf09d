import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
await sessions.import("Dear diary").catch((error) => {
  if (hasCode(error, "not_a_session")) console.log("This file is no session.") // This file is no session.
})
export {}
