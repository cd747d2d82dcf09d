import { createSqliteStorage } from "@sessions/sqlite"

const storage = createSqliteStorage({ path: "./sessions.db", durability: "disk", lockTimeout: 10_000 })
export {}
