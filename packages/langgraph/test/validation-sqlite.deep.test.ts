import { join } from "node:path"
import { createSqliteStorage } from "@sessions/sqlite"
import { newFolder } from "./folders.ts"
import { validationSuite } from "./suite.ts"

validationSuite("SQLite", () => createSqliteStorage({ path: join(newFolder(), "sessions.db") }))
