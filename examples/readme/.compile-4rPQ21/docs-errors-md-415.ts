import { createSessions, hasCode, httpStatus } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
async function handle(): Promise<Response> {
  try {
    return Response.json((await sessions.list()).sessions)
  } catch (error) {
    const headers = hasCode(error, "unavailable") ? { "retry-after": "1" } : undefined
    return new Response("The sessions cannot be read.", { status: httpStatus(error), headers })
  }
}
console.log((await handle()).status) // 200
export {}
