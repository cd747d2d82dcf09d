import { createIndexedDbStorage } from "@sessions/idb"
import { validationSuite } from "./suite.ts"

validationSuite("IndexedDB", () => createIndexedDbStorage({ database: `langgraph-${crypto.randomUUID()}` }))
