import { createWriteStream } from "node:fs"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { sessionPage } from "@sessions/inspector"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const session = await sessions.create({ title: "Find the flag" })
await session.append({ type: "message", message: { role: "user", content: "Where is the flag set?" } })

const page = sessionPage(sessions, session.id, { redact: (text) => text.replaceAll(/sk-\w+/g, "[key]") })
await pipeline(Readable.from(page), createWriteStream("session.html"))
await sessions.close()
export {}
