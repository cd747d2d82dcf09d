import type { PGlite } from "@electric-sql/pglite"
import { createSessions, type Message } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"

export type Stars = 1 | 2 | 3 | 4 | 5

interface RatingEntry {
  readonly type: "shop:rating"
  readonly target: string
  readonly stars: Stars
  readonly comment?: string
}

export interface Rating {
  readonly messageId: string
  readonly stars: Stars
  readonly comment?: string
}

export interface Tenant {
  say(chat: string, role: "user" | "assistant", text: string): Promise<string>
  rate(chat: string, messageId: string, stars: Stars, comment?: string): Promise<void>
  ratings(chat: string): Promise<Rating[]>
  context(chat: string): Promise<{ role: string; text: string }[]>
  close(): Promise<void>
}

export async function openTenant(db: PGlite, tenant: string): Promise<Tenant> {
  const storage = createPostgresStorage({ client: db, schema: `tenant_${tenant}`, durability: "os" })
  const sessions = createSessions<RatingEntry>({ storage })
  return {
    async say(chat, role, text) {
      const session = await sessions.openOrCreate(chat)
      const { ids } = await session.append({ type: "message", message: { role, content: text } })
      await session.close()
      return ids[0] ?? ""
    },
    async rate(chat, messageId, stars, comment) {
      const session = await sessions.open(chat)
      await session.append({ type: "shop:rating", target: messageId, stars, ...(comment !== undefined && { comment }) })
      await session.close()
    },
    async ratings(chat) {
      const session = await sessions.open(chat)
      const found = new Map<string, Rating>()
      const answers: string[] = []
      for await (const entry of session.entries()) {
        if (entry.type === "message") answers.push(entry.id)
        if (entry.type !== "shop:rating") continue
        const { target: messageId, stars, comment } = entry
        found.set(messageId, { messageId, stars, ...(comment !== undefined && { comment }) })
      }
      await session.close()
      return answers.flatMap((id) => found.get(id) ?? [])
    },
    async context(chat) {
      const session = await sessions.open(chat)
      const { messages } = await session.context()
      await session.close()
      return messages.map(({ message }) => ({ role: message.role, text: textOf(message) }))
    },
    close: () => sessions.close(),
  }
}

function textOf({ content = [] }: Message): string {
  return content.map((block) => (block.type === "text" && "text" in block ? String(block.text) : "")).join("")
}
