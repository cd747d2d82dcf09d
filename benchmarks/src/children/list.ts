/** Lists one page of sessions in a new process, lists it again, and runs the raw loop. */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { createStorage } from "../files/storage.ts"
import { milliseconds, verify } from "../rounds.ts"

export interface ListTimes {
  /** Milliseconds. */
  readonly first: number
  readonly again: number
  readonly raw: number
}

const [root = "", count = ""] = process.argv.slice(2)
const sessions = createSessions({ storage: createStorage({ root }) })
const page = async (): Promise<void> => {
  const { sessions: infos } = await sessions.list({ limit: 50 })
  verify(infos.length === 50 && infos[0]?.messageCount === 1, `${infos.length} sessions`)
}
const first = await milliseconds(page)
const again = await milliseconds(page)
await sessions.close()
const raw = await milliseconds(() => {
  let found = 0
  for (const name of readdirSync(root)) {
    if (name.startsWith(".")) continue
    statSync(join(root, name, "session.jsonl"))
    found++
  }
  verify(found === Number(count), `${found} folders`)
})
const times: ListTimes = { first, again, raw }
console.log(JSON.stringify(times))
