/** Trimming on PGlite, PostgreSQL in this process. */
import { PGlite } from "@electric-sql/pglite"
import { createPostgresStorage } from "@sessions/postgres"
import { onTestFinished } from "vitest"
import { trimmingTest } from "./trimming.ts"

trimmingTest("PostgreSQL", async () => {
  const client = await PGlite.create()
  onTestFinished(() => client.close())
  const options = { client, durability: "os", pollInterval: 50 } as const
  return [createPostgresStorage(options), createPostgresStorage(options)]
})
