import { createSqliteHistory } from "@sessions/history/sqlite"
import { historyCases, storedHistoryCases } from "./cases.ts"
import { newPath } from "./files.ts"

historyCases("SQLite", newPath, (path, o) => createSqliteHistory({ ...o, path }))
storedHistoryCases("SQLite", newPath, (path, o) => createSqliteHistory({ ...o, path }))
