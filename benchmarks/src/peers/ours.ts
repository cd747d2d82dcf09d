import { createSessions } from "@sessions/core"
import type { Message, Sessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createStorage } from "../files/storage.ts"
import type { Conversation, Peer } from "./peer.ts"
import { SUMMARY } from "./peer.ts"

export const ours: Peer = peerOn("ours", "files", (root) => createStorage({ root, maxSessionBytes: 4e9 }))

const location = createMemoryLocation()
export const oursInMemory: Peer = peerOn("ours in memory", "memory", () =>
  createMemoryStorage({ location, limits: { maxSessionBytes: 4e9 } }),
)

type Storage = Parameters<typeof createSessions>[0]["storage"]

function peerOn(name: string, kind: Peer["kind"], storageOn: (folder: string) => Storage): Peer {
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
        await sessions.close()
        return messages.length
      }
    },
    async append(folder) {
      const session = await on(folder).create()
      return (message) => session.append({ type: "message", message })
    },
    async list(folder, count) {
      const sessions = on(folder)
      for (let i = 0; i < count; i++) await write(sessions, { messages: [hello(i)] })
      return async () => {
        let listed = 0
        let cursor: string | undefined
        const fresh = on(folder)
        do {
          const page = await fresh.list({ limit: 200, ...(cursor !== undefined && { cursor }) })
          listed += page.sessions.length
          cursor = page.next
        } while (cursor !== undefined)
        await fresh.close()
        return listed
      }
    },
  }
}

async function write(sessions: Sessions, { messages, kept }: Conversation): Promise<string> {
  const session = await sessions.create({ cwd: "/project" })
  for (let i = 0; i < messages.length; i += 1_000) {
    await session.append(messages.slice(i, i + 1_000).map((message) => ({ type: "message" as const, message })))
  }
  if (kept !== undefined) await session.compact({ summarize: async () => SUMMARY, keepMessages: kept })
  await session.close()
  return session.id
}

export function hello(index: number): Message {
  return { role: "user", content: [{ type: "text", text: `Hello ${index}` }] }
}
