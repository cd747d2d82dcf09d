import { Runner } from "@openai/agents-core"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createAgentSession, deleteAgentSession, listAgentSessions } from "@sessions/openai-agents"
import { createAgent } from "./agent.mjs"

const [root, user, chat, text] = process.argv.slice(2)
const sessions = createSessions({ storage: createFileStorage({ root }) })
if (chat === "--list") await list()
else if (text === "--undo") await undo()
else if (text === "--delete") console.log((await deleteAgentSession(sessions, chat)) ? "deleted" : "none")
else await ask()
await sessions.close()

async function ask() {
  const session = createAgentSession({ sessions, sessionId: chat, metadata: { user } })
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(createAgent(), text, { session })
  await session.close()
  console.log(finalOutput)
}

async function undo() {
  const session = createAgentSession({ sessions, sessionId: chat, metadata: { user } })
  for (;;) {
    const item = await session.popItem()
    if (item === undefined) break
    if (item.role !== "user") continue
    console.log(typeof item.content === "string" ? item.content : item.content.map(({ text }) => text).join(""))
    break
  }
  await session.close()
}

async function list() {
  let cursor
  do {
    const page = await listAgentSessions(sessions, { metadata: { user }, ...(cursor && { cursor }) })
    for (const { sessionId, firstPrompt } of page.sessions) console.log(`${sessionId}\t${firstPrompt}`)
    cursor = page.next
  } while (cursor)
}
