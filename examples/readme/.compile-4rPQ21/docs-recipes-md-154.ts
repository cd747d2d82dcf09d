import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const session = await sessions.create()
await session.append({ type: "message", message: { role: "user", content: "keep this" } })

let file = ""
for await (const piece of sessions.export(session.id, { selfContained: true })) file += piece

const elsewhere = createSessions({ storage: createMemoryStorage() })
const { id } = await elsewhere.import(file)
console.log((await elsewhere.info(id)).firstPrompt) // keep this
export {}
