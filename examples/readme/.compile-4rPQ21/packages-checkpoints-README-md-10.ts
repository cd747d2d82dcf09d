import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createCheckpoints } from "@sessions/checkpoints"
import { createWorkFiles } from "@sessions/checkpoints/node"
import { mkdir, writeFile } from "node:fs/promises"

await mkdir("./project", { recursive: true })
const storage = createFileStorage({ root: "./.sessions" })
const sessions = createSessions({ storage })
const session = await sessions.create({ cwd: "./project" })
const checkpoints = createCheckpoints({ storage, files: createWorkFiles("./project") }).of(session)

// A tool of the agent. The file is backed up before the tool writes it.
const write = checkpoints.wrap(
  ({ path, text }: { path: string; text: string }) => writeFile(`./project/${path}`, text),
  ({ path }) => path,
)

const { ids } = await session.append({ type: "message", message: { role: "user", content: "add a greeting" } })
await checkpoints.begin(ids[0]) // once per user turn, before the first tool runs
await write({ path: "greeting.txt", text: "hello\n" })

// Later, also in another process:
console.log(await checkpoints.diff(ids[0])) // [{ path: "greeting.txt", change: "remove" }]
const { undo } = await checkpoints.rewind(ids[0], { conversation: true })
if (undo !== undefined) await checkpoints.rewind(undo)
await sessions.close()
export {}
