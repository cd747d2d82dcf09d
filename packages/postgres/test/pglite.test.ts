/** The tests that need the answers of a PostgreSQL, together, so that PGlite starts once. */
// Slow: PGlite takes seconds to start; the tests on it take none.
import "./pglite/lost-creation.ts"
import "./pglite/round-trips.ts"
import "./pglite/upgrade.ts"
