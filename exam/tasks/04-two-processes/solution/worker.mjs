import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const [root, id, name, count] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
const session = await sessions.openOrCreate(id)
for (let i = 1; i <= Number(count); i++) {
  const report = [
    { type: "message", message: { role: "user", content: `report ${i} of ${name}` } },
    { type: "message", message: { role: "assistant", content: `noted ${i} of ${name}` } },
  ]
  await session.append(report, { onConflict: "rebase" })
}
await sessions.close()
console.log("done")
