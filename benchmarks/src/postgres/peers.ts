/** Sessions in PostgreSQL beside LangGraph's saver on the same server. */
import { createPostgresStorage } from "@sessions/postgres"
import { Pool } from "pg"
import { databasePeers } from "../peers/databases.ts"
import { langgraphOnPostgres } from "../peers/langgraph.ts"
import { peerOn } from "../peers/ours.ts"
import type { Scenario } from "../report.ts"

export function postgresPeers(): readonly Scenario[] {
  const pool = new Pool({ connectionString: process.env["POSTGRES_BENCH_SERVER"], allowExitOnIdle: true })
  const schema = `ours_${process.pid}`
  // Each opening connects a new storage, which asks for the version of the tables first.
  const own = peerOn("ours", "files", () => createPostgresStorage({ client: pool, schema }))
  return databasePeers("postgres", own, langgraphOnPostgres(pool))
}
