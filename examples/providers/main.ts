/** Runs the agents one after the other, with a server on loopback in place of the providers, and prints what is in their logs. */
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { startFakeServer } from "./fake-server.ts"

const { server, variables } = await startFakeServer()
Object.assign(process.env, variables)
await import("./openai-chat.ts")
await import("./openai-responses.ts")
await import("./anthropic.ts")
await import("./gemini.ts")
await import("./ai-sdk.ts")

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
for (const name of ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"]) {
  const { messages } = await (await sessions.open(`with-${name}`)).messages()
  console.log(`${name}: ${messages.map(({ message }) => message.role).join(", ")}`)
}
await sessions.close()
server.close()
