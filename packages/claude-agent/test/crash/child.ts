/** `child.ts STORE FOLDER WRITER FROM`: appends batches, from this number on, and prints the number of each that was acknowledged. */
import { writeSync } from "node:fs"
import { createClaudeStore } from "@sessions/claude-agent"
import { batch, KEY, openSessions, type Store } from "./batches.ts"

const [store, folder = "", writer, from] = process.argv.slice(2)
const claude = createClaudeStore({ sessions: openSessions(store as Store, folder) })
for (let n = Number(from); ; n++) {
  await claude.append(KEY, batch(Number(writer), n))
  writeSync(1, `${n}\n`)
}
