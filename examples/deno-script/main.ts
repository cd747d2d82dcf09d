/**
 * A script with a persistent conversation and no permissions beyond the folder of its sessions:
 *
 *     deno run --allow-read=.sessions --allow-write=.sessions main.ts "What did we do yesterday?"
 *     deno run --allow-read=.sessions main.ts
 *
 * The first command resumes the conversation with a question. The second prints the conversation, which needs only read permission.
 */
import process from "node:process"
import { createSessions, type Session } from "@sessions/core"
import { continueRecent } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"

/** The pointer to the conversation that this script resumes. */
const POINTER = "script"
/** The project that the sessions belong to. A fixed name, because reading the current folder would need another permission. */
const PROJECT = "deno-script"

const sessions = createSessions({ storage: createFileStorage({ root: ".sessions" }) })
const prompt = process.argv.slice(2).join(" ")
if (prompt === "") await show()
else await ask(prompt)
await sessions.close()

async function ask(text: string): Promise<void> {
  const session = await continueRecent(sessions, { cwd: PROJECT, pointer: POINTER })
  await session.turn(async (turn) => {
    await turn.append({ type: "message", message: { role: "user", content: text } })
    const { messages } = await turn.context()
    // A model would answer here, and the script would need `--allow-net` for its address.
    const content = `I have read ${messages.length} messages. The last one is: ${text}`
    await turn.append({ type: "message", message: { role: "assistant", content } })
  })
  await print(session, 1)
}

async function show(): Promise<void> {
  const { sessions: recent } = await sessions.list({ cwd: PROJECT, limit: 1 })
  const newest = recent[0]
  if (newest === undefined) console.log("No conversation yet.")
  else await print(await sessions.open(newest.id), 20)
}

async function print(session: Session, limit: number): Promise<void> {
  const { messages } = await session.messages({ limit })
  for (const { message } of messages) {
    const texts = (message.content ?? []) as readonly { readonly text?: string }[]
    console.log(`${message.role}: ${texts.map(({ text = "" }) => text).join("")}`)
  }
}
