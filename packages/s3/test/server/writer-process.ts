/**
 * A writer in its own process: `writer-process.ts BUCKET PREFIX SESSION NAME COUNT IN_FLIGHT`. Appends COUNT entries, IN_FLIGHT at
 * a time, and prints their ids as JSON.
 */
import { createSessions } from "@sessions/core"
import { openIn } from "./test-server.ts"

const [bucket = "", prefix = "", id = "", name = "", count = "0", inFlight = "0"] = process.argv.slice(2)
const sessions = createSessions({ storage: openIn(bucket, prefix) })
const session = await sessions.open(id)
const ids: string[] = []
let next = 0
const appender = async (): Promise<void> => {
  while (next < Number(count)) {
    const content = `${name} ${next++}`
    ids.push(...(await session.append({ type: "message", message: { role: "user", content } })).ids)
  }
}
await Promise.all(Array.from({ length: Number(inFlight) }, appender))
await sessions.close()
process.stdout.write(JSON.stringify(ids))
