import { createSessions } from "@sessions/core"
import { createSqliteStorage } from "sqlite-example"

const sessions = createSessions({ storage: createSqliteStorage("sessions.db") })
export {}
