import { createSessions } from "@sessions/core"
import { createBunStorage } from "@sessions/bun"

const sessions = createSessions({ storage: createBunStorage({ root: "./.sessions" }) })
export {}
