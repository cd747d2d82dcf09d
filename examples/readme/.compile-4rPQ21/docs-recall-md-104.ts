import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { createConsolidation, createDocumentMemory } from "@sessions/recall"

const storage = createMemoryStorage()
const sessions = createSessions({ storage })
const consolidation = createConsolidation({
  sessions,
  files: createDocumentMemory(storage),
  scope: "/project",
  // Replace this with your agent: it gets the prompt and the tools, and works until the phase is done.
  run: async ({ phase, tools }) => {
    if (phase !== "consolidate") return
    const text = (await tools.readMemory("MEMORY.md")) ?? ""
    await tools.writeMemory("MEMORY.md", `${text}- [Deployment](deploy.md) - how it is released\n`)
    await tools.writeMemory("deploy.md", "Released on Mondays.\n")
  },
})
console.log((await consolidation.consolidate()).skipped) // few_sessions
console.log((await consolidation.consolidate({ force: true })).written)
await sessions.close()
export {}
