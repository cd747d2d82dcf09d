/**
 * `node main.ts`: moves a folder of JSON chats in, asks in one of them, leaves the page in the middle of the answer and resumes it through
 * another process, then stops an answer from there, and approves a tool that must not be repeated. Chats are stored in the folder `.sessions`, where the command `sessions` reads them.
 */
import { mkdir, writeFile } from "node:fs/promises"
import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { executionOf } from "@sessions/tool-calls"
import { DefaultChatTransport, isToolUIPart, readUIMessageStream, tool, type UIMessage, type UIMessageChunk } from "ai"
import { z } from "zod"
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
  [{ toolName: "book", input: {} }],
  ["A table is booked."],
])
// The restaurant: its bookings by the keys of the calls. Asked again under a key, it books no second table.
const booked = new Set<string>()
const book = tool({
  inputSchema: z.object({}),
  needsApproval: true,
  execute: async (_, options) => {
    booked.add(executionOf(options).key)
    return "booked"
  },
})
const recorded = {
  tools: { book: "never" },
  onUnknown: ({ key = "" }) => (booked.has(key) ? { output: "booked" } : undefined),
} as const
const page = pageOf(createRoutes(here, model, { book }, recorded))
const otherPage = pageOf(createRoutes(there, model, { book }, recorded))

const first = await page.ask("How warm is it?")
console.log("the page has got:", await textUntil(first, "warm "))
const resumed = await otherPage.resume()
goOn()
console.log("the page that reloads gets:", await textUntil(resumed))
console.log("nothing to resume:", await otherPage.resume())

const second = await page.ask("And tomorrow?")
console.log("the page has got:", await textUntil(second, "be "))
await otherPage.stop()

const asked = await answerOf(await page.ask("Book a table."))
console.log(
  "the page is asked:",
  asked?.parts
    .filter(isToolUIPart)
    .map(({ type, state }) => `${type} ${state}`)
    .join(),
)
const session = await there.open("rome")
const stateOf = async () =>
  (await session.callStates())?.calls.map(({ toolName, state }) => `${toolName} ${state}`).join()
console.log("its state in the log:", await stateOf())
if (asked !== undefined) {
  const answer = await answerOf(await otherPage.approve(asked), asked)
  console.log("the page has got:", answer?.parts.map((part) => (part.type === "text" ? part.text : "")).join(""))
}
// Resolves when all of the answer is stored.
await page.stop()
await session.refresh()
console.log("tables booked:", booked.size)

console.log("the chat:")
for (const { message } of (await session.messages()).messages) {
  const { role, content = [] } = message
  const text =
    typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("")
  console.log(`  ${role}: ${text}`.trimEnd())
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
  /** Sends the answer with all that it asks approved. */
  approve(answer: UIMessage): Promise<ReadableStream<UIMessageChunk>>
}

/** A page with the client of the AI SDK that `useChat` has. Its requests go to the routes directly. */
function pageOf(routes: (request: Request) => Promise<Response>): ChatPage {
  const fetch = (url: unknown, init?: RequestInit): Promise<Response> =>
    routes(new Request(new URL(String(url), "http://localhost"), init))
  const transport = new DefaultChatTransport<UIMessage>({ fetch })
  let asked = 1
  const send = (sent: UIMessage): Promise<ReadableStream<UIMessageChunk>> =>
    transport.sendMessages({
      trigger: "submit-message",
      chatId: "rome",
      messageId: undefined,
      messages: [sent],
      abortSignal: undefined,
    })
  return {
    ask: (text) => send(message(`q${++asked}`, "user", text)),
    approve: (answer) => send({ ...answer, parts: answer.parts.map(approved) }),
    resume: () => transport.reconnectToStream({ chatId: "rome" }),
    stop: () => fetch("/api/chat/rome/stop", { method: "POST" }),
  }
}

function approved(part: UIMessage["parts"][number]): UIMessage["parts"][number] {
  if (!isToolUIPart(part) || part.state !== "approval-requested") return part
  return { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
}

/** The whole answer. `before`: what the page has of it already. */
async function answerOf(stream: ReadableStream<UIMessageChunk>, before?: UIMessage): Promise<UIMessage | undefined> {
  let answer = before
  const begun = before === undefined ? {} : { message: structuredClone(before) }
  for await (const one of readUIMessageStream({ ...begun, stream })) answer = one
  return answer
}

/** What a page shows when the text ends like this, by default at the end. It leaves then. */
async function textUntil(stream: ReadableStream<UIMessageChunk> | null, end?: string): Promise<string> {
  let text = ""
  if (stream === null) return text
  for await (const { parts } of readUIMessageStream({ stream })) {
    text = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    if (end !== undefined && text.endsWith(end)) break
  }
  return text.trimEnd()
}
