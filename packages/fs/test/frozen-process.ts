/** A writer that stops in the middle of an append: `frozen-process.ts ROOT before|after`. Says when it is about to, and what became of it. */
import type { Head } from "@sessions/core/storage"
import { createFileStorage, type Files, nodeFiles } from "@sessions/fs"

const [root = "", when = ""] = process.argv.slice(2)
let armed = false
const files: Files = {
  ...nodeFiles,
  write(fd, bytes, offset, length) {
    const here = armed && length > 0
    if (here) armed = false
    if (here && when === "before") process.kill(process.pid, "SIGSTOP")
    const written = nodeFiles.write(fd, bytes, offset, length)
    if (here && when === "after") process.kill(process.pid, "SIGSTOP")
    return written
  },
}
const storage = createFileStorage({ root, files })
let head: Head = await storage.append("a", ["one"], { expect: 0 })
head = await storage.append("a", ["two"], { expect: head })
armed = true
say("stopping")
try {
  head = await storage.append("a", ["late"], { expect: head })
  say(`done ${head.next}`)
} catch (error) {
  say((error as { code: string }).code)
  const now = await storage.head("a")
  head = { next: now?.next ?? 0, log: now?.log ?? "" }
}
await storage.append("a", ["on"], { expect: head }).catch((error: unknown) => say((error as { code: string }).code))
await storage[Symbol.asyncDispose]()
say("end")

function say(what: string): void {
  process.stdout.write(`${what}\n`)
}
