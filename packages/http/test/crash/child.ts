/** `child.ts FOLDER`: serves the session API on files, and prints its address and the steps of its turns. It is killed at some step. */
import { appendFileSync, writeSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { toNodeListener } from "@sessions/http/node"
import { createSessionHandler } from "@sessions/http/server"
import { openSessions, say } from "./server.ts"

const [folder = ""] = process.argv.slice(2)
const sessions = openSessions(folder)
const tell = (step: string): void => void writeSync(1, `${step}\n`)

const handler = createSessionHandler<string>({
  sessions: () => sessions,
  authorize: () => "tester",
  lease: 1_000,
  async run({ session, message: { messageId } }) {
    // Synchronous, so that a killed process has written it or has not begun.
    appendFileSync(join(folder, "runs"), `${messageId}\n`)
    tell("run")
    const call = { type: "toolCall", id: messageId, name: "look", arguments: {} } as const
    await session.append({ type: "message", message: { role: "assistant", content: [call] } })
    tell("call")
    const result = { role: "toolResult", toolCallId: messageId, content: "seen", isError: false } as const
    await session.append({ type: "message", message: result })
    await say(session, `done ${messageId}`)
    tell("done")
  },
})

const server = createServer(toNodeListener(handler))
server.listen(0, "127.0.0.1", () => tell(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
