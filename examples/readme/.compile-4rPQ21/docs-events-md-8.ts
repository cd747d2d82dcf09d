import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
const end = session.on("appended", ({ entries }) => console.log(entries.map(({ type }) => type).join())) // message
await session.append({ type: "message", message: { role: "user", content: "hello" } })
end()
await session.title("not reported")
export {}
