import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"

const storage = createIndexedDbStorage({ database: "my-agent" })
const sessions = createSessions({ storage })
export {}
