import { createSessions, hasCode, type NewEntry, type SessionError } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).openOrCreate("chat")
const entry: NewEntry = { type: "message", message: { role: "user", content: "hello" } }
await session.append(entry).catch(async (error) => {
  const { lost } = error as SessionError
  if (!hasCode(error, "conflict") || lost === undefined) throw error
  const again = lost.map(({ parentId, seq, writtenAt, blobs, ...given }) => given as NewEntry)
  await session.append([...again, entry])
})
export {}
