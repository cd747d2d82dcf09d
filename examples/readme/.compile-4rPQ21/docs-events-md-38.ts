import { createSessions, type Hooks } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

/** Replaces keys in what is about to be stored. The log never has them. */
const redact: Hooks = {
  append: (entry) => JSON.parse(JSON.stringify(entry).replaceAll(/sk-[a-z0-9]+/g, "[key]")),
}
const sessions = createSessions({ storage: createMemoryStorage(), hooks: redact })
const session = await sessions.create()
await session.append({ type: "message", message: { role: "user", content: "use sk-123abc" } })
console.log((await sessions.info(session.id)).firstPrompt) // use [key]
export {}
