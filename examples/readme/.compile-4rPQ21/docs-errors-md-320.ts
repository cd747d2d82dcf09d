import { createSessions, hasCode } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
const message = { role: "user", content: "hello" } as const
const entry = { type: "message", id: "01K8ZQ4Y9G3V5N7B2M6X0CTRPD", message } as const // an id of your own

await retry(() => session.append(entry))
await retry(() => session.append(entry)) // as after a lost answer
console.log((await session.info()).messageCount) // 1

async function retry<T>(call: () => Promise<T>): Promise<T> {
  for (let pause = 200; ; pause *= 2) {
    try {
      return await call()
    } catch (error) {
      const passes = hasCode(error, "indeterminate") || hasCode(error, "unavailable")
      if (!passes || pause > 5_000) throw error
      await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }
}
export {}
