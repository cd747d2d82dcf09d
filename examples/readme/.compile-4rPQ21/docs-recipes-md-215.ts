import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

type Rating = { type: "acme:rating"; stars: number }
const sessions = createSessions<Rating, { customer: string }>({ storage: createMemoryStorage() })
const session = await sessions.create({ metadata: { customer: "ada" } })
await session.append({ type: "acme:rating", stars: 5 })
console.log((await sessions.list({ metadata: { customer: "ada" } })).sessions.length) // 1
console.log((await session.context()).messages.length) // 0
export {}
