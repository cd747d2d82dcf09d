import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const DAY = 24 * 60 * 60 * 1000
const sessions = createSessions({ storage: createMemoryStorage() })

const { removed, skipped } = await sessions.prune({ olderThan: 30 * DAY, cwd: "/srv/agent" })
// If none is left, that is because of the line above.
const { bytes, swept } = await sessions.collect({ withoutSessions: removed.length > 0 })
await sessions.close()
export {}
