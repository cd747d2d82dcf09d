/** `retention-process.ts ROOT STEP`: prunes and collects, and kills itself with SIGKILL right before or after its file operation STEP. */
import { createSessions } from "@sessions/core"
import { collect, deleteOldSessions } from "@sessions/core/transfer"
import { createFileStorage, nodeFiles } from "@sessions/fs"

const [root = "", step = "0"] = process.argv.slice(2)
const DAY = 24 * 60 * 60 * 1000
let done = 0

function counted<A extends readonly unknown[], T>(change: (...args: A) => T): (...args: A) => T {
  return (...args) => {
    if (done++ === Number(step)) process.kill(process.pid, "SIGKILL")
    const result = change(...args)
    if (done++ === Number(step)) process.kill(process.pid, "SIGKILL")
    return result
  }
}

const files = {
  ...nodeFiles,
  rename: counted((from: string, to: string) => nodeFiles.rename(from, to)),
  unlink: counted((path: string) => nodeFiles.unlink(path)),
  remove: counted((path: string) => nodeFiles.remove(path)),
  write: counted((...args: Parameters<typeof nodeFiles.write>) => nodeFiles.write(...args)),
  mkdir: counted((path: string, mode: number) => nodeFiles.mkdir(path, mode)),
}
const sessions = createSessions({ storage: createFileStorage({ root, files }) })
await deleteOldSessions(sessions, { olderThan: 30 * DAY })
await collect(sessions)
await sessions.close()
