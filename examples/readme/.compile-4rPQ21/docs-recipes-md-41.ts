import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
const { ids } = await session.append([
  { type: "message", message: { role: "user", content: "Name a colour." } },
  { type: "message", message: { role: "assistant", content: "Red." } },
])
const answer = { type: "message", message: { role: "assistant", content: "Blue." } } as const
await session.append(answer, { at: ids[0]! }) // branches and appends in one batch
console.log((await session.branches()).length) // 2
export {}
