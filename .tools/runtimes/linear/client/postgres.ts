/** A client of the storage in PostgreSQL, on any runtime, through an address that may inject faults. */
import { createPostgresStorage } from "@sessions/postgres"
import { createPool } from "../../../../packages/postgres/test/server/server.ts"
import { serve } from "./process.ts"

interface Place {
  readonly url: string
  readonly schema: string
}

await serve(({ place }) => {
  const { url, schema } = place as Place
  return createPostgresStorage({ client: createPool({ connectionString: url, max: 4 }), schema })
})
