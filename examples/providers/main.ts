/** Runs the agents one after the other, with a server on loopback in place of the providers, and prints what is in their logs. */
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { startFakeServer } from "./fake-server.ts"

const { url, server } = await startFakeServer()
Object.assign(process.env, {
  ANTHROPIC_API_KEY: "x",
  ANTHROPIC_BASE_URL: url,
  OPENAI_API_KEY: "x",
  OPENAI_BASE_URL: `${url}/v1`,
  GEMINI_API_KEY: "x",
  GOOGLE_GEMINI_BASE_URL: url,
})
await import("./openai-chat.ts")
await import("./openai-responses.ts")
await import("./anthropic.ts")
await import("./gemini.ts")
// This client takes the version of the API with the address.
process.env["ANTHROPIC_BASE_URL"] = `${url}/v1`
await import("./ai-sdk.ts")

const sessions = createSessions({ storage: createFileStorage({ root: "./.sessions" }) })
for (const name of ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"]) {
  const { messages } = await (await sessions.open(`with-${name}`)).messages()
  console.log(`${name}: ${messages.map(({ message }) => message.role).join(", ")}`)
}
await sessions.close()
server.close()
