/** A process that brings an index up to date and searches, again and again: `crash-process.ts ROOT FOLDER`. It is killed. */
import { writeSync } from "node:fs"
import { createFileStorage } from "@sessions/fs"
import { createSearch } from "@sessions/search"
import { createSqliteIndex } from "@sessions/search/sqlite"

const [root = "", folder = ""] = process.argv.slice(2)
const storage = createFileStorage({ root })
writeSync(1, "started\n")
for (;;) {
  const search = createSearch({ storage, index: createSqliteIndex({ folder }) })
  await search.clear()
  await search.search("word")
  await search.close()
}
