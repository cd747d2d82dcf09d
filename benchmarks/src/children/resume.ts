/**
 * Opens a session and reads its context or its last 50 messages, once; the time of the imports does not count. Lines and bytes read
 * are counted in a separate process, since counting takes time.
 */
import { createSessions } from "@sessions/core"
import { createStorage } from "../files/storage.ts"
import { milliseconds, verify } from "../rounds.ts"
import { countReads } from "../work.ts"

export interface ResumeTimes {
  readonly ms: number
  readonly messages: number
  /** 0 unless counted. */
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
