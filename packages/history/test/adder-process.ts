/** A process that adds prompts: `adder-process.ts PATH NAME COUNT`. Flushes after each seventh, and says how many are flushed. */
import { writeSync } from "node:fs"
import { createSqliteHistory } from "@sessions/history/sqlite"

const [path = "", name = "", count = "0"] = process.argv.slice(2)
const history = createSqliteHistory({ path })

for (let added = 0; added < Number(count); ) {
  // Of different lengths, so that rows end at all places of a page.
  history.add(`${name} n${added} ${"word ".repeat((added * 997) % 500)}`, { cwd: `/${name}` })
  added++
  if (added % 7 > 0 && added < Number(count)) continue
  await history.flush()
  writeSync(1, `${added}\n`)
}
await history.close()
