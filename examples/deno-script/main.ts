/**
 * A script that remembers, and may touch nothing but its memory:
 *
 *     deno run --allow-read=.sessions --allow-write=.sessions main.ts "What did we do yesterday?"
 *     deno run --allow-read=.sessions main.ts
 *
 * The first asks and goes on where the script stopped before; the second only shows what was said, for which reading is enough.
 */
import process from "node:process"
import { createSessions, type Session } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

/** The name of the conversation that this script goes on with. */
const POINTER = "script"
/** Stands for the project that the sessions belong to; the script need not know where it runs. */
const PROJECT = "deno-script"

const sessions = createSessions({ storage: createFileStorage({ root: ".sessions" }) })
const prompt = process.argv.slice(2).join(" ")
if (prompt === "") await show()
else await ask(prompt)
await sessions.close()

async function ask(text: string): Promise<void> {
  const session = await sessions.continueRecent({ cwd: PROJECT, pointer: POINTER })
  await session.turn(async (turn) => {
    await turn.append({ type: "message", message: { role: "user", content: text } })
    const { messages } = await turn.context()
    // A model would answer here, and the script would need `--allow-net` for its address.
    const content = `I have read ${messages.length} messages, the last one says: ${text}`
    await turn.append({ type: "message", message: { role: "assistant", content } })
  })
  await print(session, 1)
}

async function show(): Promise<void> {
  const { sessions: recent } = await sessions.list({ cwd: PROJECT, limit: 1 })
  const newest = recent[0]
  if (newest === undefined) console.log("Nothing was said yet.")
  else await print(await sessions.open(newest.id), 20)
}

async function print(session: Session, limit: number): Promise<void> {
  const { messages } = await session.messages({ limit })
  for (const { message } of messages) {
    const texts = (message.content ?? []) as readonly { readonly text?: string }[]
    console.log(`${message.role}: ${texts.map(({ text = "" }) => text).join("")}`)
  }
}
