import { createSessions } from "@sessions/core"
import { collect, deleteOldSessions } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"

const [root, days, flag] = process.argv.slice(2)
const dryRun = flag === "--dry-run"
const sessions = createSessions({ storage: createFileStorage({ root }) })
const { removed } = await deleteOldSessions(sessions, { olderThan: Number(days) * 24 * 60 * 60 * 1000, dryRun })
// If every chat was too old, there is no session left.
if (!dryRun) await collect(sessions, { withoutSessions: removed.length > 0 })
console.log(removed.length)
await sessions.close()
