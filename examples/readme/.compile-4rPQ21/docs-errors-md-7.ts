import { createSessions, hasCode, httpStatus } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
try {
  await sessions.open("chat-1")
} catch (error) {
  if (!hasCode(error, "not_found")) throw error
  console.log(error.code, httpStatus(error)) // not_found 404
}
export {}
