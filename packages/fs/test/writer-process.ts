/** A writer of its own process: `writer-process.ts ROOT SESSION NAME COUNT`. Appends its lines, after whoever else writes. */
import type { Head } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"

const [root = "", session = "", name = "", count = "0"] = process.argv.slice(2)
const storage = createFileStorage({ root, maxPartBytes: 4_000 })

let done = 0
while (done < Number(count)) {
  const info = await storage.head(session)
  const expect: 0 | Head = info === undefined ? 0 : { next: info.next, log: info.log }
  try {
    let head = await storage.append(session, [JSON.stringify({ name, n: done++ })], { expect })
    // A burst, as long as nobody else comes between.
    while (done < Number(count))
      head = await storage.append(session, [JSON.stringify({ name, n: done++ })], { expect: head })
  } catch (error) {
    if ((error as { code?: string }).code !== "conflict") throw error
    done--
  }
}
await storage[Symbol.asyncDispose]()
