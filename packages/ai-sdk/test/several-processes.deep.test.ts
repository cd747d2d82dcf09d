/** On PGlite, PostgreSQL in this process, which takes seconds to start. */
import { twoPagesTest, twoRequestsTest, twoSavesTest } from "./several-processes.ts"
import { pglite } from "./storages.ts"

twoRequestsTest(pglite)
twoSavesTest(pglite)
twoPagesTest(pglite)
