/** On PGlite, PostgreSQL in this process, which needs no server. */
import { PGlite } from "@electric-sql/pglite"
import { createPostgresStorage } from "@sessions/postgres"
import { afterAll } from "vitest"
import { validationSuite } from "./suite.ts"

let server: PGlite | undefined
let schemas = 0
afterAll(() => server?.close())

validationSuite("PostgreSQL", async () => {
  server ??= await PGlite.create()
  return createPostgresStorage({ client: server, schema: `langgraph_${schemas++}`, durability: "os" })
})
