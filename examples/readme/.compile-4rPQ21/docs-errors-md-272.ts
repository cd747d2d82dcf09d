import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
await session.compact({ summarize: async () => "" }).catch((error) => {
  if (!hasCode(error, "compaction_failed")) throw error
  session.resetCompactionBreaker() // only where automatic compaction has stopped
  console.log(session.compactionStatus.breakerOpen) // false
})
export {}
