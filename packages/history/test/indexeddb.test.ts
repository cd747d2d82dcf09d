/** On IndexedDB in memory. */
import { createIndexedDbHistory } from "@sessions/history/indexeddb"
import * as fake from "fake-indexeddb"
import { historyCases, storedHistoryCases } from "./cases.ts"
import { newDatabase } from "./databases.ts"

const { default: _, ...globals } = fake
Object.assign(globalThis, globals)

historyCases("IndexedDB", newDatabase, (database, o) => createIndexedDbHistory({ ...o, database }))
storedHistoryCases("IndexedDB", newDatabase, (database, o) => createIndexedDbHistory({ ...o, database }))
