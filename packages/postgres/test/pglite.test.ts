/** The tests that need the answers of a PostgreSQL, together, so that PGlite starts once. */
import { lostCreationTests } from "./pglite/lost-creation.ts"
import { roundTripTests } from "./pglite/round-trips.ts"
import { upgradeTests } from "./pglite/upgrade.ts"

// Slow: PGlite takes seconds to start; the tests on it take none.
lostCreationTests()
roundTripTests()
upgradeTests()
