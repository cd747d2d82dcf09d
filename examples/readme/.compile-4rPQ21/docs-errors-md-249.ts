import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() }) // once for the process
for (const content of ["one", "two"]) {
  const session = await sessions.openOrCreate("chat-1") // for each request
  await session.append({ type: "message", message: { role: "user", content } })
  await session.close()
}
console.log((await sessions.info("chat-1")).messageCount) // 2
export {}
