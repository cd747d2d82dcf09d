/** The routes that the docs and the example show, as they stand there, with a scripted model and tools behind them. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { SessionStorage } from "@sessions/core/storage"
import { isStepCount, tool, type ToolSet, type UIMessage, type UIMessageChunk } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { z } from "zod"
import { type Chunk, streamOf } from "./model.ts"

const inputSchema = z.object({})

/** `hang` runs until its process is killed, or the run is stopped. */
export const tools = {
  hang: tool({
    inputSchema,
    execute: (_, { abortSignal }) =>
      new Promise<string>((_resolve, reject) => {
        abortSignal?.addEventListener("abort", () => reject(new Error("The run was stopped.")))
      }),
  }),
  page: tool({ inputSchema, outputSchema: z.string() }),
  approved: tool({ inputSchema, needsApproval: true, execute: async () => "done" }),
} satisfies ToolSet

export type Steps = readonly (readonly Chunk[])[]

/** What a route asks, the next step for each request. */
function modelOf(steps: Steps): MockLanguageModelV4 {
  const left = [...steps]
  return new MockLanguageModelV4({ doStream: async () => ({ stream: streamOf(left.shift() ?? []) }) })
}

/** A process of the server. */
export interface Server {
  /** Asks, and gives what the page gets. */
  readonly ask: (message: UIMessage, steps: Steps) => Promise<ReadableStream<Uint8Array>>
  readonly regenerate?: (steps: Steps) => Promise<ReadableStream<Uint8Array>>
  readonly stop?: () => Promise<unknown>
  /** What another page gets of the answer: what is stored. */
  readonly resume?: () => Promise<ReadableStream<Uint8Array>>
}

type Module = Readonly<
  Record<"POST" | "GET" | "STOP" | "regenerate" | "createRoutes", (...args: unknown[]) => Promise<Response>>
>

export interface Place {
  readonly folder: string
  readonly storage: SessionStorage
  /** A run counts as lost after three times as long. */
  readonly heartbeatMs?: number
}

let modules = 0

/** Each call loads the module again, as another process does. */
async function load(code: string, { folder, storage, heartbeatMs = 5_000 }: Place): Promise<Module> {
  const file = join(folder, `route-${modules++}.ts`)
  Object.assign(globalThis, { storageOfRoute: storage })
  writeFileSync(
    file,
    code
      .replace("createMemoryStorage()", "globalThis.storageOfRoute")
      .replaceAll('model: "openai/gpt-5",', "...globalThis.modelOfRoute,")
      .replace("{ readUIMessageStream })", `{ readUIMessageStream, heartbeatMs: ${heartbeatMs} })`),
  )
  return (await import(pathToFileURL(file).href)) as Module
}

function blocksOf(page: string): readonly string[] {
  const blocks = readFileSync(new URL(page, import.meta.url), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)
  return [...blocks].map(([, code = ""]) => code)
}

function use(steps: Steps): void {
  left = [...steps]
}

/** What the models of the documented routes say next. */
let left: (readonly Chunk[])[] = []
const model = new MockLanguageModelV4({ doStream: async () => ({ stream: streamOf(left.shift() ?? []) }) })
const onError = ({ error }: { readonly error: unknown }): void => void errors.push(error)
Object.assign(globalThis, { modelOfRoute: { model, tools, stopWhen: isStepCount(5), onError } })

/** What the models and tools of the routes have thrown. */
export const errors: unknown[] = []

const page = "../../../docs/ai-sdk.md"

export const routes: Readonly<Record<string, (place: Place) => Promise<Server>>> = {
  "Saving a run": (place) => documented("function POST", place),
  "Another answer": (place) => documented("function regenerate", place),
  "Resumable streams": (place) => documented("function STOP", place),
  Agents: (place) => documented("new ToolLoopAgent", place),
  async "the example"(place) {
    const code = readFileSync(new URL("../../../examples/ai-sdk-chat/routes.ts", import.meta.url), "utf8")
    const { createRoutes } = await load(code, place)
    const { createSessions } = await import("@sessions/core")
    const sessions = createSessions({ storage: place.storage })
    const answer = async (steps: Steps, path: string, body: object): Promise<Response> => {
      const handle = createRoutes(sessions, modelOf(steps), tools) as unknown as (request: Request) => Promise<Response>
      return handle(new Request(`https://example.com/api/chat${path}`, { method: "POST", body: JSON.stringify(body) }))
    }
    return {
      ask: async (message, steps) => bodyOf(await answer(steps, "", { id: "c", messages: [message] })),
      stop: () => answer([], "/c/stop", {}),
    }
  },
}

async function documented(name: string, place: Place): Promise<Server> {
  const blocks = blocksOf(page)
  const module = await load(blocks.find((code) => code.includes(name)) ?? "", place)
  // The page shows it beside the first route.
  const { POST } =
    "POST" in module ? module : await load(blocks.find((code) => code.includes("function POST")) ?? "", place)
  const { regenerate, GET, STOP } = module
  return {
    async ask(message, steps) {
      use(steps)
      const body = JSON.stringify({ id: "c", message })
      return bodyOf(await POST(new Request("https://example.com", { method: "POST", body })))
    },
    ...(regenerate === undefined ? {} : { regenerate: async (steps) => (use(steps), bodyOf(await regenerate("c"))) }),
    ...(STOP === undefined ? {} : { stop: () => STOP("c"), resume: async () => bodyOf(await GET("c")) }),
  }
}

function bodyOf({ body }: Response): ReadableStream<Uint8Array> {
  if (body === null) throw new Error("The route has given no stream.")
  return body
}

/** What a page gets, up to a chunk of this type. */
export async function chunksOf(
  stream: ReadableStream<Uint8Array>,
  until?: UIMessageChunk["type"],
): Promise<UIMessageChunk[]> {
  const chunks: UIMessageChunk[] = []
  let rest = ""
  const decoder = new TextDecoder()
  for await (const bytes of stream) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events)
      if (event.startsWith("data: {")) chunks.push(JSON.parse(event.slice("data: ".length)) as UIMessageChunk)
    if (chunks.some(({ type }) => type === until)) break
  }
  return chunks
}
