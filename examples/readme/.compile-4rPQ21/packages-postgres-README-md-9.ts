import { createSessions } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import pg from "pg"

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
pool.on("error", (error) => console.error(error)) // an idle connection was lost; pg ends the process if nothing listens

const sessions = createSessions({ storage: createPostgresStorage({ client: pool }) })
const session = await sessions.openOrCreate("01K8ZQ4Y9G3V5N7B2M6X0CTRPD")
export {}
