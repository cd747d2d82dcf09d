import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const summarize = async ({ prompt }: { prompt: string }) => `## Critical Context\n${prompt.match(/hunter\d/)?.[0] ?? "(none)"}`
const sessions = createSessions({ storage: createMemoryStorage(), compaction: { summarize, keepRecentTokens: 0 } })
const session = await sessions.create()
const { ids } = await session.append([
  { type: "message", message: { role: "user", content: "the password is hunter2".padEnd(2000, " please") } },
  { type: "message", message: { role: "user", content: "write it into the file".padEnd(2000, " please") } },
])
await session.compact()
await session.tombstone(ids[0] as string)
const found = (await session.context()).diagnostics.find(({ code }) => code === "summarized")
if (found !== undefined) await session.compact({ anew: true })
console.log(found?.entries?.length, JSON.stringify((await session.context()).messages).includes("hunter2")) // 1 false
export {}
