import { createServer } from "node:http"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createFileStorage } from "@sessions/fs"
import { toNodeListener } from "@sessions/http/node"
import { createSessionHandler } from "@sessions/http/server"
import { answer } from "./model.mjs"
import { users } from "./users.mjs"

const [folder] = process.argv.slice(2)
const repositories = new Map()
const handler = createSessionHandler({
  authorize(request) {
    const [, token] = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? []
    return users.get(token) ?? new Response(null, { status: 401 })
  },
  sessions(user) {
    if (!repositories.has(user))
      repositories.set(user, createSessions({ storage: createFileStorage({ root: join(folder, user) }) }))
    return repositories.get(user)
  },
  async run({ session, signal }) {
    const content = await ask(session, signal)
    await session.append({ type: "message", message: { role: "assistant", content } })
  },
})
async function ask(session, signal) {
  for (;;) {
    try {
      await makeRoom(session, { signal })
      const { messages } = await session.context()
      const rows = messages.map(({ message: { role, content } }) => ({
        role,
        content: content.map(({ text }) => text).join(""),
      }))
      return await answer(rows, signal)
    } catch (error) {
      await makeRoom(session, { error, signal })
    }
  }
}

const server = createServer(toNodeListener(handler))
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`))
