/**
 * A process that runs a turn with a lease, `turns-process.ts ROOT asks|stops TEXT`: it asks a question and answers it, or stops itself when it is
 * about to append the answer. Says what it does.
 */
import { createSessions, hasCode } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const [root = "", what = "", text = ""] = process.argv.slice(2)
let armed = false
const files = createFileStorage({ root })
const sessions = createSessions({
  storage: {
    ...files,
    append: (...args) => {
      if (armed) process.kill(process.pid, "SIGSTOP")
      armed = false
      return files.append(...args)
    },
  },
})
const session = await sessions.open("chat")
say("ready")
try {
  await session.turn(
    async (turn, { signal }) => {
      signal?.addEventListener("abort", () => say("told"))
      await turn.append({ type: "message", message: { role: "user", content: text } })
      say(`asked behind ${(await turn.messages()).messages.length - 1}`)
      armed = what === "stops"
      await turn.append({ type: "message", message: { role: "assistant", content: `to ${text}` } })
    },
    { lease: 1_000 },
  )
  say("done")
} catch (error) {
  say(hasCode(error, "conflict") ? "conflict" : String(error))
}
await sessions.close()

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
