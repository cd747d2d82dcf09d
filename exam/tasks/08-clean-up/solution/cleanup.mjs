import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const [root, days, flag] = process.argv.slice(2)
const dryRun = flag === "--dry-run"
const sessions = createSessions({ storage: createFileStorage({ root }) })
const { removed } = await sessions.prune({ olderThan: Number(days) * 24 * 60 * 60 * 1000, dryRun })
if (!dryRun) await sessions.collect()
console.log(removed.length)
await sessions.close()
