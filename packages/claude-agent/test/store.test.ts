import { largeLinesTests } from "./large-lines.ts"
import { storeTests } from "./store-rules.ts"
import { limited, storages } from "./storages.ts"

storeTests(storages)
largeLinesTests(limited)
