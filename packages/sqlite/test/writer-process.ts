/**
 * A writer of its own process: `writer-process.ts PATH SESSION NAME COUNT`. Appends `COUNT` lines, one after the other, after those of
 * other writers, and says the number of each when it is acknowledged.
 */
import { writeSync } from "node:fs"
import type { Head } from "@sessions/core/storage"
import { createSqliteStorage } from "@sessions/sqlite"

const [path = "", session = "", name = "", count = "0"] = process.argv.slice(2)
const storage = createSqliteStorage({ path, durability: "os", lockTimeout: 60_000 })

let done = 0
while (done < Number(count)) {
  const info = await storage.head(session)
  let head: 0 | Head = info === undefined ? 0 : { next: info.next, log: info.log }
  try {
    while (done < Number(count)) {
      // Of different lengths, so that rows end at all places of a page.
      const line = JSON.stringify({ name, n: done, pad: "x".repeat((done * 997) % 5000) })
      head = await storage.append(session, [line], { expect: head })
      writeSync(1, `${done++}\n`)
    }
  } catch (error) {
    if ((error as { code?: string }).code !== "conflict") throw error
  }
}
await storage[Symbol.asyncDispose]()
