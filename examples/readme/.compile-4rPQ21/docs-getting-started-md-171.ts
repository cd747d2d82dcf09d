import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createChatStore } from "@sessions/ai-sdk"
import type { UIMessage } from "ai"

const sessions = createSessions({ storage: createFileStorage({ root: "./.chats" }) })
const { createChat, loadChat, saveChat } = createChatStore<UIMessage>(sessions)

const id = await createChat()
await saveChat({ id, messages: [{ id: "m1", role: "user", parts: [{ type: "text", text: "hello" }] }] })
console.log((await loadChat(id)).length) // 1
await sessions.close()
export {}
