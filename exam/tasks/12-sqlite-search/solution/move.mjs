import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createSqliteStorage } from "@sessions/sqlite"

const [root, path] = process.argv.slice(2)
const from = createSessions({ storage: createFileStorage({ root }) })
const storage = createSqliteStorage({ path })
let cursor
do {
  const page = await from.list({ limit: 200, ...(cursor && { cursor }) })
  for (const { id } of page.sessions) await from.copy(id, storage)
  cursor = page.next
} while (cursor)

const to = createSessions({ storage })
let count = 0
do {
  const page = await to.list({ limit: 200, ...(cursor && { cursor }) })
  count += page.sessions.length
  cursor = page.next
} while (cursor)
console.log(count)
await from.close()
await to.close()
