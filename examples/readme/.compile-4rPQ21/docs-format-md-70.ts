import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

type Note = { readonly type: "acme:note"; readonly text: string }

const sessions = createSessions<Note, { project: string }>({ storage: createMemoryStorage() })
const session = await sessions.create()
await session.append({ type: "acme:note", text: "kept" })
await session.metadata("project", "website")
for await (const entry of session.entries()) if (entry.type === "acme:note") console.log(entry.text)
export {}
