import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
await session.append({ type: "message", message: { role: "user", content: "fix the tests" } })
const error = new Error("prompt is too long") // of your provider's client: it is your prompt and tools that are too long
await session.makeRoom({ error }).catch(async (reason) => {
  if (!hasCode(reason, "no_room")) throw reason
  await session.append({ type: "model_change", provider: "acme", model: "large-2" })
})
console.log((await session.context()).model?.model) // large-2
export {}
