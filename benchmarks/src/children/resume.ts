/**
 * Opens a session and gives its context, or its last 50 messages: once, timed from after the import. What comes out of the storage
 * is counted in a process of its own: counting takes its time, too.
 */
import { createSessions } from "@sessions/core"
import { createStorage } from "../files/storage.ts"
import { milliseconds, verify } from "../rounds.ts"
import { countReads } from "../work.ts"

export interface ResumeTimes {
  readonly ms: number
  readonly messages: number
  /** Where it is counted, else 0. */
  readonly lines: number
  readonly bytes: number
}

const [root = "", id = "", how = "", counting = ""] = process.argv.slice(2)
const bare = createStorage({ root, maxSessionBytes: 4e9 })
const counted = counting === "counted" ? countReads(bare) : undefined
const sessions = createSessions({ storage: counted?.storage ?? bare })
let given: readonly object[] = []
const ms = await milliseconds(async () => {
  const session = await sessions.open(id)
  const found = how === "context" ? await session.context() : await session.messages({ limit: 50 })
  given = found.messages
})
const messages = given.length
verify(how === "context" ? messages > 10 : messages === 50, `${messages} messages`)
const size = JSON.stringify(given).length
verify(size > 80_000 && size < 140_000, `${size} characters, not about 100 KB`)
await sessions.close()
const { lines, bytes } = counted?.counts ?? { lines: 0, bytes: 0 }
const times: ResumeTimes = { ms, messages, lines, bytes }
console.log(JSON.stringify(times))
