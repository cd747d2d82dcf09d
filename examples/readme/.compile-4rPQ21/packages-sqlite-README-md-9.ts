import { createSessions } from "@sessions/core"
import { createSqliteStorage } from "@sessions/sqlite"

const sessions = createSessions({ storage: createSqliteStorage({ path: "./sessions.db" }) })
export {}
