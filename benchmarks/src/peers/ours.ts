import { createSessions, type SessionInfo, type Sessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createStorage } from "../files/storage.ts"
import { listedSession } from "./conversation.ts"
import { type Conversation, type Peer, SUMMARY } from "./peer.ts"

export const ours: Peer = peerOn("ours", "files", (root) => createStorage({ root, maxSessionBytes: 4e9 }))

const location = createMemoryLocation()
const inMemory = peerOn("ours in memory", "memory", () =>
  createMemoryStorage({ location, limits: { maxSessionBytes: 4e9 } }),
)

/** The messages of an open session, for the comparison with other session objects in memory. */
export const oursInMemory: Peer = {
  ...inMemory,
  async open(_, { messages }) {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    await session.append(messages().map((message) => ({ type: "message" as const, message })))
    return async () => ({ messages: (await session.context()).messages.length })
  },
}

/** A new repository opens the session, so that all lines are parsed. */
export const oursOpenedInMemory: Peer = { ...inMemory, name: "opened anew" }

type Storage = Parameters<typeof createSessions>[0]["storage"]

export function peerOn(name: string, kind: Peer["kind"], storageOn: (folder: string) => Storage): Peer {
  const on = (folder: string): Sessions => createSessions({ storage: storageOn(folder) })
  return {
    name,
    kind,
    async open(folder, conversation) {
      const id = await write(on(folder), conversation)
      return async () => {
        const sessions = on(folder)
        const session = await sessions.open(id)
        const { messages } = await session.context()
        return { messages: messages.length, close: () => sessions.close() }
      }
    },
    async append(folder) {
      const session = await on(folder).create()
      return (message) => session.append({ type: "message", message })
    },
    async list(folder, count) {
      const sessions = on(folder)
      for (let i = 0; i < count; i++) await write(sessions, { messages: () => listedSession(i) })
      await sessions.close()
      return async () => {
        const fresh = on(folder)
        const rows: SessionInfo[] = []
        let cursor: string | undefined
        do {
          const page = await fresh.list({ limit: 200, ...(cursor !== undefined && { cursor }) })
          rows.push(...page.sessions)
          cursor = page.next
        } while (cursor !== undefined)
        const [{ firstPrompt, messageCount } = {}] = rows as Partial<SessionInfo>[]
        return { rows: rows.length, firstPrompt, messageCount, close: () => fresh.close() }
      }
    },
  }
}

async function write(sessions: Sessions, conversation: Conversation): Promise<string> {
  const { kept } = conversation
  const messages = conversation.messages()
  const session = await sessions.create({ cwd: "/project" })
  for (let i = 0; i < messages.length; i += 1_000) {
    await session.append(messages.slice(i, i + 1_000).map((message) => ({ type: "message" as const, message })))
  }
  if (kept !== undefined) await compact(session, { summarize: async () => SUMMARY, keepMessages: kept })
  await session.close()
  return session.id
}
