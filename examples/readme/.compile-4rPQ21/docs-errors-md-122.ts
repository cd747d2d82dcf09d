import { createSessions, hasCode } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"

const location = createMemoryLocation()
const mine = await createSessions({ storage: createMemoryStorage({ location }), onConflict: "fail" }).openOrCreate("chat")
const theirs = await createSessions({ storage: createMemoryStorage({ location }) }).openOrCreate("chat")
await theirs.append({ type: "message", message: { role: "user", content: "first" } })

const entry = { type: "message", message: { role: "user", content: "second" } } as const
await mine.append(entry).catch(async (error) => {
  if (!hasCode(error, "conflict")) throw error
  console.log((await mine.context()).messages.length) // 1
  await mine.append(entry)
})
export {}
