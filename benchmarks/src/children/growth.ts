/** One call on a store, in a process of its own: its time or, in another process since counting takes time, the work that it does. */
import type { SessionStorage } from "@sessions/core/storage"
import { createSessions } from "@sessions/core"
import { CALLS, type Of } from "../growth/calls.ts"
import { milliseconds } from "../rounds.ts"
import { type Calls, countFileCalls, countReads, countRows } from "../work.ts"

export interface GrowthTimes {
  readonly ms: number
  /** Lines of logs, or calls of the file system or rows of SQLite, that were read; 0 unless counted. */
  readonly work: number
}

const NONE: Calls = { made: 0 }
const [kind = "", path = "", id = "", of = "", name = "", count = "0", counting = ""] = process.argv.slice(2)
const isCounted = counting === "counted"
const ofStore = isCounted && of === "sessions" ? (kind === "sqlite" ? await countRows() : await countFileCalls()) : NONE
const bare = await open()
const ofLog = isCounted && of === "log" ? countReads(bare) : undefined
const sessions = createSessions({ storage: ofLog?.storage ?? bare })
const before = ofStore.made
const ms = await milliseconds(() => CALLS[of as Of][name]?.(sessions, id, Number(count)))
const times: GrowthTimes = { ms, work: (ofLog?.counts.lines ?? 0) + ofStore.made - before }
await sessions.close()
console.log(JSON.stringify(times))

async function open(): Promise<SessionStorage> {
  const limit = { maxSessionBytes: 4e9 }
  if (kind === "sqlite") return (await import("@sessions/sqlite")).createSqliteStorage({ path, ...limit })
  return (await import("../files/storage.ts")).createStorage({ root: path, ...limit })
}
