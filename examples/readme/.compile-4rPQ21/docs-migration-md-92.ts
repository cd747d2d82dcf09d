import { createSessions, type NewMessage } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { readFile, writeFile } from "node:fs/promises"

// Stands for your file.
await writeFile("chat.json", JSON.stringify([{ role: "user", content: "hello" }, { role: "assistant", content: "hi" }]))

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const messages = JSON.parse(await readFile("chat.json", "utf8")) as NewMessage[]
const session = await sessions.create({ id: "chat", entries: messages.map((message) => ({ type: "message", message })) })
console.log((await session.context()).messages.length) // 2
await sessions.close()
export {}
