/** Moves a folder with one JSON file for each chat in. It can be repeated, also after it was interrupted: chats that have gone on stay. */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { createChatStore } from "@sessions/ai-sdk"
import { hasCode, type Sessions } from "@sessions/core"
import type { UIMessage } from "ai"

/** Returns how many chats have got messages. */
export async function importChats(sessions: Sessions, folder: string): Promise<number> {
  const store = createChatStore<UIMessage>(sessions)
  let count = 0
  for (const name of await readdir(folder)) {
    if (!name.endsWith(".json")) continue
    const id = name.slice(0, -".json".length)
    const messages = JSON.parse(await readFile(join(folder, name), "utf8")) as UIMessage[]
    const stored = await store.loadChat(id).catch((error: unknown) => {
      if (hasCode(error, "not_found")) return []
      throw error
    })
    if (stored.length >= messages.length) continue
    await store.saveChat({ id, messages })
    count++
  }
  return count
}
