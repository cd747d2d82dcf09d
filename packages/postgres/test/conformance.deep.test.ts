/** The suite on PGlite, PostgreSQL in this process, which needs no server. */
import { PGlite } from "@electric-sql/pglite"
import { register } from "@sessions/conformance"
import { registerProperties } from "@sessions/conformance/properties"
import { afterAll, test } from "vitest"
import { createSubject } from "./subject.ts"

let database: PGlite | undefined
const pglite = createSubject("pglite", async () => (database ??= await PGlite.create()), {
  durability: "os",
  maxBatchBytes: 2_000_000,
})
afterAll(() => database?.close())

/** Smaller than by default, since PGlite takes milliseconds for each call; the log is still longer than a page of a read. */
const sizes = { sessions: 1_001, race: 8, lines: 500, logBytes: 1_200_000 }
register(test, pglite, { sizes })
registerProperties(test, pglite, { runs: 5 })
