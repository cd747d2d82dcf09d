import { transcriptText } from "@sessions/claude-agent"
import { createSessions } from "@sessions/core"
import { claudeCode } from "@sessions/formats/claude-code"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
for (const { id, metadata } of (await sessions.list({ kind: "claude-agent" })).sessions) {
  if (metadata["part"] !== undefined) continue
  const session = await sessions.open(id)
  const made = await sessions.import(() => transcriptText(session, sessions), { from: claudeCode })
  console.log(id, made.id)
}
await sessions.close()
export {}
