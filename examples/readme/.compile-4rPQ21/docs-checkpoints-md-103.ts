import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createCheckpoints } from "@sessions/checkpoints"
import { createWorkFiles } from "@sessions/checkpoints/node"

const checkpoints = createCheckpoints({
  storage: createFileStorage({ root: "./.checkpoints" }),
  files: createWorkFiles("."),
})
const sessions = createSessions({
  storage: createFileStorage({ root: "./.sessions" }),
  hooks: { delete: ({ session }) => checkpoints.delete(session) },
})
await sessions.close()
export {}
