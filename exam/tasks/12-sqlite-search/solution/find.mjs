import { createSearch } from "@sessions/search"
import { createSqliteIndex } from "@sessions/search/sqlite"
import { createSqliteStorage } from "@sessions/sqlite"

const [path, ...words] = process.argv.slice(2)
const storage = createSqliteStorage({ path })
const search = createSearch({ storage, index: createSqliteIndex({ folder: `${path}.search` }) })
let cursor
do {
  const page = await search.search(words.join(" "), { order: "newest", ...(cursor && { cursor }) })
  for (const { session, role, timestamp } of page.hits) console.log(`${session}\t${role}\t${timestamp.slice(0, 10)}`)
  cursor = page.next
} while (cursor)
await search.close()
