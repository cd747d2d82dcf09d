/**
 * `writer-process.ts ROOT SESSION MODE NAME COUNT`: writes to a session and prints what was acknowledged. Modes: `appends` appends
 * COUNT messages one by one; `turn` runs a turn of two messages; `rename` sets the title NAME; `same` appends the entry with the id
 * NAME, COUNT times. All but `appends` print "ready" and wait for a line on standard input.
 */
import { writeSync } from "node:fs"
import { createInterface } from "node:readline"
import { createSessions, type NewEntry } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const [root = "", id = "", mode = "", name = "", count = "0"] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root, maxPartBytes: 20_000 }) })
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]()
/** Synchronous, so a line is out before the process can be killed. */
const print = (text: string): void => void writeSync(1, `${text}\n`)

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
    print(ids[0] ?? "")
  }
} else if (mode === "turn") {
  print("ready")
  await input.next()
  const attempts = await session.turn(async (inside, { attempt }) => {
    await inside.append(message("user", `${name} asks`))
    await inside.append(message("assistant", `${name} is answered`))
    return attempt
  })
  print(String(attempts))
} else if (mode === "rename") {
  print("ready")
  await input.next()
  await session.title(name)
  print("renamed")
} else {
  print("ready")
  await input.next()
  for (let n = 0; n < Number(count); n++) {
    const { ids } = await session.append({ id: name, ...message("user", "once") })
    print(ids[0] ?? "")
  }
}
await sessions.close()
input.return?.().catch(() => undefined)
process.stdin.destroy()
