import { createIndexedDbHistory } from "@sessions/history/indexeddb"
import { historyCases, storedHistoryCases } from "./cases.ts"
import { newDatabase } from "./databases.ts"

historyCases("IndexedDB", newDatabase, (database, o) => createIndexedDbHistory({ ...o, database }))
storedHistoryCases("IndexedDB", newDatabase, (database, o) => createIndexedDbHistory({ ...o, database }))
