import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createChatStore } from "@sessions/ai-sdk"
import type { UIMessage } from "ai"

const sessions = createSessions({ storage: createFileStorage({ root: "./.chats" }) })
export const { createChat, loadChat, addMessage, saveChat, readChat, persist } = createChatStore<UIMessage>(sessions)
export {}
