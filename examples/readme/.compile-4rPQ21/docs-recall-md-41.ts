import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createDocumentMemory, createRecall } from "@sessions/recall"

const storage = createMemoryStorage()
const sessions = createSessions({ storage })
const session = await sessions.create({ cwd: "/project" })
await session.append([
  { type: "message", message: { role: "user", content: "Please use tabs, two wide." } },
  { type: "message", message: { role: "assistant", content: "I will." } },
])

// Replace `ask` with your model.
const ask = async () => '[{"category": "UserPreference", "fact": "Uses tabs, two wide", "confidence": 0.9}]'
const recall = createRecall({ files: createDocumentMemory(storage), scope: "/project", ask })
console.log((await recall.extract(session)).skipped) // few_messages
console.log((await recall.extract(session, { force: true })).facts.length)
console.log((await recall.text()).includes("- [preference] Uses tabs, two wide (confidence 0.9, "))
await sessions.close()
export {}
