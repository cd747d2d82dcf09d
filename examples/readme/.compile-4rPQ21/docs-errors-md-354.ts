import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const { deleteIf } = sessions.storage.capabilities // whether it can delete only what has not changed, as `prune` needs
const old = deleteIf ? await sessions.prune({ olderThan: 30 * 24 * 3_600_000 }) : undefined
console.log(old?.removed.length ?? "This storage cannot prune.") // 0
export {}
