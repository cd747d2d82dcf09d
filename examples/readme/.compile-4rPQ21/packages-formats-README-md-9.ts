import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { formats, importFile } from "@sessions/formats"
import { claudeCode } from "@sessions/formats/claude-code"
import { createReadStream } from "node:fs"
import { writeFile } from "node:fs/promises"

const asked = { type: "user", uuid: "u1", parentUuid: null, sessionId: "s1", message: { role: "user", content: "hello" } }
await writeFile("session.jsonl", `${JSON.stringify(asked)}\n`)

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const { id, from, diagnostics } = await importFile(sessions, () => createReadStream("session.jsonl"), { from: formats })
console.log(from.format, diagnostics.length)

const session = await sessions.open(id)
await session.append({ type: "message", message: { role: "assistant", content: "hi" } })
let text = ""
for await (const piece of claudeCode.write(session)) text += piece
await writeFile("continued.jsonl", text)
await sessions.close()
export {}
