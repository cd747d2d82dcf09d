/**
 * `writer.ts ROOT SESSION MODE NAME COUNT`: a process that writes to a session, and says on standard output what was acknowledged.
 * Modes: `appends` COUNT messages one by one; `turn` of two messages, the second when a line comes in; `rename` when a line comes in;
 * `same` appends the one entry NAME, COUNT times.
 */
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import type { NewEntry } from "@sessions/core"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const [root = "", id = "", mode = "", name = "", count = "0"] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root, maxPartBytes: 20_000 }) })
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
/** At once and not through a stream: what was said must have been said when the process is killed. */
const say = (text: string): void => void writeSync(1, `${text}\n`)

const message = (role: "user" | "assistant", text: string): NewEntry => ({
  type: "message",
  message: { role, content: text },
})

const session = await sessions.open(id)
await session.context()
if (mode === "appends") {
  for (let n = 0; n < Number(count); n++) {
    const { ids } = await session.append(
      message(n % 2 === 0 ? "user" : "assistant", `${name}-${n} ${"x".repeat(n % 700)}`),
    )
    say(ids[0] ?? "")
  }
} else if (mode === "turn") {
  say("ready")
  await input.next()
  const attempts = await session.turn(async (inside, { attempt }) => {
    await inside.append(message("user", `${name} asks`))
    await inside.append(message("assistant", `${name} is answered`))
    return attempt
  })
  say(String(attempts))
} else if (mode === "rename") {
  say("ready")
  await input.next()
  await session.title(name)
  say("renamed")
} else {
  say("ready")
  await input.next()
  for (let n = 0; n < Number(count); n++) {
    const { ids } = await session.append({ id: name, ...message("user", "once") })
    say(ids[0] ?? "")
  }
}
await sessions.close()
input.return?.().catch(() => undefined)
process.stdin.destroy()
