/**
 * `node main.ts`: moves a folder of JSON chats in, asks in one of them, leaves the page in the middle of the answer and resumes it through
 * another process, then stops an answer from there. Chats are stored in the folder `.sessions`, where the command `sessions` reads them.
 */
import { mkdir, writeFile } from "node:fs/promises"
import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { DefaultChatTransport, readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import { importChats } from "./import-chats.ts"
import { createRoutes } from "./routes.ts"
import { createScriptedModel } from "./scripted.ts"

await mkdir(".chats", { recursive: true })
await writeFile(
  ".chats/rome.json",
  JSON.stringify([message("q1", "user", "Where is Rome?"), message("a1", "assistant", "In Italy.")]),
)

// Two servers on one storage. They could be processes on two machines.
const [here, there] = [0, 1].map(() => createSessions({ storage: createFileStorage({ root: "./.sessions" }) })) as [
  Sessions,
  Sessions,
]
console.log("chats moved in:", await importChats(here, ".chats"), "and again:", await importChats(here, ".chats"))

let goOn = (): void => undefined
const pageHasLeft = new Promise<void>((resolve) => (goOn = resolve))
const model = createScriptedModel([
  ["It is ", "warm ", pageHasLeft, "in ", "Rome."],
  ["It will ", "be ", new Promise(() => undefined)],
])
const page = pageOf(createRoutes(here, model))
const otherPage = pageOf(createRoutes(there, model))

const first = await page.ask("How warm is it?")
console.log("the page has got:", await textUntil(first, "warm "))
const resumed = await otherPage.resume()
goOn()
console.log("the page that reloads gets:", await textUntil(resumed))
console.log("nothing to resume:", await otherPage.resume())

const second = await page.ask("And tomorrow?")
console.log("the page has got:", await textUntil(second, "be "))
await otherPage.stop()
console.log("the chat:")
const session = await there.open("rome")
for (const { message } of (await session.messages()).messages) {
  const { role, content = [] } = message
  console.log(
    `  ${role}: ${typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("")}`,
  )
}
await session.close()
await here.close()
await there.close()

function message(id: string, role: UIMessage["role"], text: string): UIMessage {
  return { id, role, parts: [{ type: "text", text }] }
}

interface ChatPage {
  ask(text: string): Promise<ReadableStream<UIMessageChunk>>
  resume(): Promise<ReadableStream<UIMessageChunk> | null>
  stop(): Promise<Response>
}

/** A page with the client of the AI SDK that `useChat` has. Its requests go to the routes directly. */
function pageOf(routes: (request: Request) => Promise<Response>): ChatPage {
  const fetch = (url: unknown, init?: RequestInit): Promise<Response> =>
    routes(new Request(new URL(String(url), "http://localhost"), init))
  const transport = new DefaultChatTransport<UIMessage>({ fetch })
  let asked = 1
  return {
    ask: (text) =>
      transport.sendMessages({
        trigger: "submit-message",
        chatId: "rome",
        messageId: undefined,
        messages: [message(`q${++asked}`, "user", text)],
        abortSignal: undefined,
      }),
    resume: () => transport.reconnectToStream({ chatId: "rome" }),
    stop: () => fetch("/api/chat/rome/stop", { method: "POST" }),
  }
}

/** What a page shows when the text ends like this, by default at the end. It leaves then. */
async function textUntil(stream: ReadableStream<UIMessageChunk> | null, end?: string): Promise<string> {
  let text = ""
  if (stream === null) return text
  for await (const { parts } of readUIMessageStream({ stream })) {
    text = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    if (end !== undefined && text.endsWith(end)) break
  }
  return text
}
