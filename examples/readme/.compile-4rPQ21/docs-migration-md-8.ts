import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createReadStream } from "node:fs"
import { writeFile } from "node:fs/promises"

// Stands for a file of pi, below ~/.pi/agent/sessions.
const timestamp = "2026-01-31T09:30:00.000Z"
const lines = [
  { type: "session", version: 3, id: "0198c0de-0000-7000-8000-000000000001", timestamp, cwd: "/project" },
  { type: "message", id: "a1b2c3d4", parentId: null, timestamp, message: { role: "user", content: "hello", timestamp: 1 } },
]
await writeFile("session.jsonl", lines.map((line) => `${JSON.stringify(line)}\n`).join(""))

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const { id, from, diagnostics } = await sessions.import(() => createReadStream("session.jsonl"))
console.log(from.format, from.version, diagnostics.length) // pi 3 0
console.log((await sessions.info(id)).cwd) // /project
await sessions.close()
export {}
