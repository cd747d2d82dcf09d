import { createSessions, type HistoryMessage } from "@sessions/core"
import { textOf } from "@sessions/core/format"
import { createMemoryStorage } from "@sessions/memory"

const session = await createSessions({ storage: createMemoryStorage() }).create()
for (const text of ["one", "two", "three"])
  await session.append({ type: "message", message: { role: "user", content: text } })

const all: HistoryMessage[] = []
let before: string | undefined
do {
  const page = await session.messages({ limit: 100, ...(before && { before }) })
  all.unshift(...page.messages)
  before = page.before
} while (before)
console.log(all.map(({ message }) => textOf(message)).join()) // one,two,three
export {}
