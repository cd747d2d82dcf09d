import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
try {
  await sessions.list({ limit: 1 })
} catch (error) {
  if (!hasCode(error, "misconfigured")) throw error
  console.error(error.message)
  process.exit(78) // EX_CONFIG of sysexits.h
}
export {}
