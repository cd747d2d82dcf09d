import { createServer } from "node:http"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { toNodeListener } from "@sessions/http/node"
import { createSessionHandler } from "@sessions/http/server"

const sessions = createSessions({ storage: createMemoryStorage() })
const ending = new AbortController()
const handler = createSessionHandler({
  authorize: (request) =>
    request.headers.get("authorization") === "Bearer 7f3c9a" ? "ada" : new Response(null, { status: 401 }),
  sessions: () => sessions,
  async run({ session, message, signal }) {
    AbortSignal.any([signal, ending.signal]).throwIfAborted() // pass it to your model and tools
    await session.append({ type: "message", message: { role: "assistant", content: `You wrote: ${message.text}` } })
  },
})
const server = createServer(toNodeListener(handler)).listen(process.env.PORT)

process.once("SIGTERM", async () => {
  server.close()
  const timer = setTimeout(() => ending.abort(), 10_000)
  await handler.close()
  clearTimeout(timer)
  await sessions.close()
})
export {}
