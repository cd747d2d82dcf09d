/** The route handler of README.md and of docs/ai-sdk.md, as it stands there, with a scripted model behind its name. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { customProvider, simulateReadableStream, type UIMessage } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { afterAll, expect, test } from "vitest"
import { createChatStore } from "../src/index.ts"
import { step, text, user } from "./model.ts"
import { folderFor } from "../../../.config/program.ts"

const { folder, remove } = folderFor(fileURLToPath(new URL("..", import.meta.url)))
afterAll(() => {
  remove()
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined
})

function routeOf(page: string): string {
  const blocks = readFileSync(new URL(page, import.meta.url), "utf8").matchAll(/^```ts\n([^]*?)^```$/gm)
  return [...blocks].map(([, code = ""]) => code).find((code) => code.includes("function POST")) ?? ""
}

test("the README and the page have the same route", () => {
  expect(routeOf("../README.md")).toBe(routeOf("../../../docs/ai-sdk.md"))
})

test("the route begins a chat with its first message, and saves the whole answer if the page goes away", async () => {
  const file = join(folder, "route.ts")
  const storage = createMemoryStorage()
  writeFileSync(file, routeOf("../README.md").replace("createMemoryStorage()", "globalThis.storageOfRoute"))
  Object.assign(globalThis, { storageOfRoute: storage })
  const { POST } = (await import(file)) as { POST: (request: Request) => Promise<Response> }
  const model = new MockLanguageModelV4({
    doStream: async () => ({ stream: simulateReadableStream({ chunks: step(text("a long answer")) }) }),
  })
  globalThis.AI_SDK_DEFAULT_PROVIDER = customProvider({ languageModels: { "openai/gpt-5": model } })

  const body = JSON.stringify({ id: "c", message: user("u", "hi") })
  const { body: answer } = await POST(new Request("https://example.com", { method: "POST", body }))
  // The page goes away with the first word.
  for await (const chunk of answer ?? []) if (new TextDecoder().decode(chunk).includes("text-delta")) break
  const store = createChatStore<UIMessage>(createSessions({ storage }))
  const last = async () => (await store.loadChat("c")).at(-1)
  // What is saved first: the whole answer, or what the page had got of it.
  await expect.poll(async () => (await last())?.role).toBe("assistant")
  expect(JSON.stringify(await last())).toContain("a long answer")
})
