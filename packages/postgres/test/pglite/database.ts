/** One PGlite, PostgreSQL in this process, for all tests of a file: it takes seconds of CPU to start. */
import { PGlite } from "@electric-sql/pglite"
import { afterAll } from "vitest"

export const database: PGlite = await PGlite.create()
afterAll(() => database.close())
