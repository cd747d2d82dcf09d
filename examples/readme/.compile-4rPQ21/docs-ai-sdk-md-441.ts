import { readdir, readFile } from "node:fs/promises"
import { createSessions, hasCode } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createChatStore } from "@sessions/ai-sdk"
import type { UIMessage } from "ai"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const store = createChatStore<UIMessage>(sessions)
for (const name of await readdir(".chats")) {
  if (!name.endsWith(".json")) continue
  const id = name.slice(0, -".json".length)
  const messages = JSON.parse(await readFile(`.chats/${name}`, "utf8")) as UIMessage[]
  const stored = await store.loadChat(id).catch((error: unknown) => {
    if (hasCode(error, "not_found")) return []
    throw error
  })
  if (stored.length < messages.length) await store.saveChat({ id, messages })
}
await sessions.close()
export {}
