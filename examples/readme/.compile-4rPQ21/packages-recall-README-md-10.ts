import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createDocumentMemory, createRecall } from "@sessions/recall"

const cwd = process.cwd()
const storage = createFileStorage({ root: "./.sessions" })
const sessions = createSessions({ storage })
const recall = createRecall({
  files: createDocumentMemory(storage), // or createFolderMemory("./memory") of @sessions/recall/node
  scope: cwd,
  // Replace this with your model: it gets { system, prompt, maxTokens, signal } and answers with text.
  ask: async () => '[{"category": "UserPreference", "fact": "Uses tabs, two wide", "confidence": 0.9}]',
})
recall.on("failed", ({ error }) => console.error("memory:", error))

const session = await sessions.create({ cwd })
const systemPrompt = `You are an agent.\n\n${await recall.text()}`
await session.turn(async (turn) => {
  await turn.append({ type: "message", message: { role: "user", content: "tabs, please, two wide" } })
  await turn.append({ type: "message", message: { role: "assistant", content: `Noted: ${systemPrompt.length}` } })
})
recall.afterTurn(session) // extracts in the background once the conversation is long enough

await recall.settled()
await sessions.close()
export {}
