import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"

// Two repositories on one storage, as two processes have them.
const location = createMemoryLocation()
const one = await createSessions({ storage: createMemoryStorage({ location }) }).openOrCreate("chat")
const two = await createSessions({ storage: createMemoryStorage({ location }) }).openOrCreate("chat")
const say = (content: string) => ({ type: "message", message: { role: "user", content } }) as const

await one.append(say("from the first"))
const { diverged } = await two.append(say("from the second"))
console.log(diverged?.tips.length) // 1
console.log((await two.branches()).length) // 2
export {}
