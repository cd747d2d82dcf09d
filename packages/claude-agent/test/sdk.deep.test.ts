import { readersTests } from "./readers.ts"
import { pglite } from "./storages.ts"

readersTests(pglite)
