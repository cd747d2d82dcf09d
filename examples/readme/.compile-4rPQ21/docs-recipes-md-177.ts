import { createSessions } from "@sessions/core"
import { textOf } from "@sessions/core/format"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"

const location = createMemoryLocation()
const open = () => createSessions({ storage: createMemoryStorage({ location }) }).openOrCreate("team")
const [ada, bob] = [await open(), await open()]
const say = (session: typeof ada, role: "user" | "assistant", content: string) =>
  session.append({ type: "message", message: { role, content } }, { onConflict: "rebase" })

await say(ada, "user", "Ada asks")
await say(bob, "user", "Bob asks")
await say(ada, "assistant", "To Ada")
await say(bob, "assistant", "To Bob")
await ada.refresh()
console.log((await ada.messages()).messages.map(({ message }) => textOf(message)).join()) // Ada asks,Bob asks,To Ada,To Bob
export {}
