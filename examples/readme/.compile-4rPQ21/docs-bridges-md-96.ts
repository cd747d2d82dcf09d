import { createSessions, type Importer } from "@sessions/core"
import { FORMAT, ulidAt, VERSION } from "@sessions/core/format"
import { createMemoryStorage } from "@sessions/memory"

const transcript: Importer = {
  format: "transcript",
  identify: (start) => start.startsWith("user: "),
  async *read({ main }) {
    const timestamp = "2026-01-31T09:30:00.000Z"
    const origin = { format: "transcript", version: 1 }
    yield { type: "session", format: FORMAT, version: VERSION, id: "any", timestamp, origin }
    let text = ""
    for await (const piece of main) text += piece
    let parentId: string | null = null
    for (const [index, line] of text.trim().split("\n").entries()) {
      const id = ulidAt(Date.parse(timestamp), index)
      const [, role, words = ""] = /^(user|assistant): (.*)$/.exec(line) ?? []
      const content = [{ type: "text" as const, text: words }]
      const place = { id, parentId, seq: 0, timestamp }
      if (role === "user" || role === "assistant") yield { type: "message", ...place, message: { role, content } }
      else yield { type: "custom", ...place, customType: "transcript/line", data: line }
      parentId = id
    }
  },
}

const sessions = createSessions({ storage: createMemoryStorage() })
const { id, lines } = await sessions.import("user: hello\nassistant: hi\n", { from: transcript })
console.log(id, lines)
await sessions.close()
export {}
