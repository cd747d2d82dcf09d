import { largeLinesTests } from "./large-lines.ts"
import { storeTests } from "./store-rules.ts"
import { pglite, storages } from "./storages.ts"

storeTests(pglite)
largeLinesTests({ ...storages, ...pglite })
