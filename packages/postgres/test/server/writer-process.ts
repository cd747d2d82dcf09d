/**
 * A writer in its own process: `writer-process.ts SCHEMA SESSION NAME COUNT IN_FLIGHT`. Appends COUNT entries, IN_FLIGHT at a time, and
 * prints their ids, a line each, once they are acknowledged.
 */
import { writeSync } from "node:fs"
import { createSessions } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import { createPool } from "./server.ts"

const [schema = "", id = "", name = "", count = "0", inFlight = "1"] = process.argv.slice(2)
const pool = createPool({ max: 4 })
const sessions = createSessions({ storage: createPostgresStorage({ client: pool, schema }) })
const session = await sessions.open(id)
let next = 0
const appender = async (): Promise<void> => {
  while (next < Number(count)) {
    const content = `${name} ${next++}`
    const { ids } = await session.append({ type: "message", message: { role: "user", content } })
    // At once, since the process may be killed.
    writeSync(1, `${ids[0]}\n`)
  }
}
await Promise.all(Array.from({ length: Number(inFlight) }, appender))
await sessions.close()
await pool.end()
