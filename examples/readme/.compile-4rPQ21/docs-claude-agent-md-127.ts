import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const sessionId = "6b1f6f0e-3b0d-4a3c-9f0e-2f6f3b1c9a11" // the SDK's id
const metadata = { sessionId }
const left: string[] = []
for (const { id } of (await sessions.list({ kind: "claude-agent", metadata, limit: 200 })).sessions) {
  const { purged } = await sessions.delete(id, { blobs: "now" })
  if (!purged) left.push(id) // a blob of the last two hours: repeat the delete of this id when they have passed
}
await sessions.close()
export {}
