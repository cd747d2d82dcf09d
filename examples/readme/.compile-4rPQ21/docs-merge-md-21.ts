import { createSessions, hasCode, type Sessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

async function bringInStep(here: Sessions, there: Sessions): Promise<void> {
  const known = await idsOf(here)
  for (const id of await idsOf(there)) if (!known.has(id)) await there.copy(id, here.storage)
  for (const id of known) {
    try {
      await here.merge(id, there.storage)
    } catch (error) {
      // It was deleted there after an earlier merge.
      if (!hasCode(error, "not_found")) throw error
    }
  }
}

async function idsOf(sessions: Sessions): Promise<Set<string>> {
  const ids = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await sessions.list({ limit: 200, cursor })
    for (const { id } of page.sessions) ids.add(id)
    cursor = page.next
  } while (cursor !== undefined)
  return ids
}

const laptop = createSessions({ storage: createMemoryStorage() })
const server = createSessions({ storage: createMemoryStorage() })
await laptop.create()
await server.create()
await bringInStep(laptop, server)
console.log((await idsOf(laptop)).size, (await idsOf(server)).size) // 2 2
export {}
