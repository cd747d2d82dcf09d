import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const { removed } = await sessions.prune({ olderThan: 90 * 24 * 3_600_000, dryRun: true }) // without dryRun it deletes
await sessions.collect() // blobs that no session mentions, and what deletions left
console.log(removed.length) // 0
export {}
