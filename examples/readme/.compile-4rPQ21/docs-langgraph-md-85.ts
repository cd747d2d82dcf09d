import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
const checkpointer = new SessionsSaver({ sessions, keep: 100 })
export {}
