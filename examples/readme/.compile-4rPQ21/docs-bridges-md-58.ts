import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({ storage: createMemoryStorage() })
const session = await sessions.create({ kind: "openai-agents" })
const { ids } = await session.append(
  [
    { type: "message", message: { role: "user", content: "What is the capital?" } },
    { type: "message", message: { role: "assistant", content: "Of which country?" } },
  ],
  { onConflict: "rebase" },
)
// Replaces the answer. `op` is a field of the bridge, by which a repeated call finds that it was applied.
await session.append([{ type: "message", message: { role: "assistant", content: "Paris." } }], {
  at: ids[0] ?? null,
  leaf: { op: { id: "run-7:2", n: 1 } },
  onConflict: "fail",
})
// Takes the answer back: no entries.
await session.append([], { at: ids[0] ?? null })
console.log((await session.context()).messages.length)
await sessions.close()
export {}
