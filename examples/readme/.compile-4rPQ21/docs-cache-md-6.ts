import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const sessions = createSessions({
  storage: createMemoryStorage(),
  cache: { idle: 1_800_000, sessions: 100 },
  hooks: { release: ({ session, why }) => console.log(session, why) },
})
export {}
