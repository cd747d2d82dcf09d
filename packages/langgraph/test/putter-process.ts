/**
 * A process that puts checkpoints into one thread: `putter-process.ts ROOT NAME COUNT`. Its namespace is NAME. Each has a write of a task
 * before it is put, and the number of the checkpoint is printed when both are stored, `trims` when
 * it begins to replace the log.
 */
import { writeSync } from "node:fs"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { lastMessages, put, startOf } from "./threads.ts"

const [root = "", name = "", count = "0"] = process.argv.slice(2)
const files = createFileStorage({ root })
const replace = files.replace?.bind(files)
const storage: SessionStorage = {
  ...files,
  ...(replace !== undefined && {
    replace(...args) {
      writeSync(1, "trims\n")
      return replace(...args)
    },
  }),
}
const sessions = createSessions({ storage })
const saver = new SessionsSaver({ sessions, keep: 30 })

let last = startOf("shared", name)
for (let n = 0; n < Number(count); n++) {
  last = await put(saver, last, { messages: lastMessages(n) }, { version: n })
  await Promise.all([1, 2].map((task) => saver.putWrites(last, [["messages", n]], `task-${task}`)))
  writeSync(1, `${n}\n`)
}
await saver.close()
await sessions.close()
