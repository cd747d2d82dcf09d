import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createSessionHandler } from "@sessions/http/server"

const users = new Map([["Bearer 7f3c9a", "ada"]]) // use tokens of your own
const sessions = new Map<string, Sessions>()

export const handler = createSessionHandler({
  authorize: (request) =>
    users.get(request.headers.get("authorization") ?? "") ?? new Response(null, { status: 401 }),
  sessions(user) {
    const known = sessions.get(user) ?? createSessions({ storage: createFileStorage({ root: `./users/${user}` }) })
    sessions.set(user, known)
    return known
  },
  async run({ session, signal }) {
    for (let answered = false; !answered; ) {
      try {
        await session.makeRoom({ signal })
        const { messages } = await session.context()
        const answer = await askModel(messages.map(({ message }) => message), signal)
        await session.append({ type: "message", message: { role: "assistant", content: answer } })
        answered = true
      } catch (error) {
        await session.makeRoom({ error, signal }) // if it was too long for the model; any other error is thrown on
      }
    }
  },
})

/** Your agent: any number of appends, tool calls and model calls. */
async function askModel(messages: readonly unknown[], signal: AbortSignal): Promise<string> {
  signal.throwIfAborted()
  return `That was message ${messages.length}.`
}
export {}
