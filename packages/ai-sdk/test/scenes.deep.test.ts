/** On PGlite, PostgreSQL in this process, which takes seconds to start. */
import { scenesTests } from "./scenes.ts"
import { pglite } from "./storages.ts"

scenesTests(pglite)
