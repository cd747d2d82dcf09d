/** A process that makes the calls of `calls.ts` until it is killed: `calls-process.ts STORAGE FOLDER FROM`. It prints the number of each. */
import { writeSync } from "node:fs"
import { createSessions } from "@sessions/core"
import { createAgentSession } from "@sessions/openai-agents"
import { call } from "./calls.ts"
import { type IN_FOLDERS, openInFolder } from "./folder-storages.ts"

const [storage = "", folder = "", from = ""] = process.argv.slice(2)
const sessions = createSessions({ storage: openInFolder(storage as (typeof IN_FOLDERS)[number], folder) })
const session = createAgentSession<object>({ sessions, sessionId: "shared" })
for (let n = Number(from); ; n++) {
  await call(session, n)
  writeSync(1, `${n}\n`)
}
