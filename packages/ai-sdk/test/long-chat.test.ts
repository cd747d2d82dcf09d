/** The route of docs/ai-sdk.md for a chat that outgrows its model, as it stands there, with a model that refuses what is too long. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { APICallError, customProvider, simulateReadableStream, type UIMessage } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { afterAll, expect, test } from "vitest"
import { folderFor } from "../../../.config/program.ts"
import { createChatStore } from "../src/index.ts"
import { step, text, user } from "./model.ts"
import { chunksOf } from "./routes.ts"

const { folder, remove } = folderFor(fileURLToPath(new URL("..", import.meta.url)))
afterAll(() => {
  remove()
  globalThis.AI_SDK_DEFAULT_PROVIDER = undefined
})

const LONGEST = 20_000

test("a chat that its model refuses as too long is answered when the page asks again, and keeps all messages", async () => {
  const page = readFileSync(new URL("../../../docs/ai-sdk.md", import.meta.url), "utf8")
  const code = [...page.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code = ""]) => code)
  const file = join(folder, "route.ts")
  const route = code.find((code) => code.includes("makeRoom")) ?? ""
  writeFileSync(file, route.replace("createMemoryStorage()", "globalThis.storageOfRoute"))
  const storage = createMemoryStorage()
  Object.assign(globalThis, { storageOfRoute: storage })
  const { POST } = (await import(file)) as { POST: (request: Request) => Promise<Response> }
  const model = new MockLanguageModelV4({
    async doStream({ prompt }) {
      if (JSON.stringify(prompt).length > LONGEST) throw tooLong()
      return { stream: simulateReadableStream({ chunks: step(text("Here I am.")) }) }
    },
    async doGenerate() {
      const usage = { inputTokens: { total: 9 }, outputTokens: { total: 9 } }
      const finishReason = { unified: "stop", raw: "stop" }
      return { content: [{ type: "text", text: "## Goal\nA summary." }], finishReason, usage, warnings: [] } as never
    },
  })
  globalThis.AI_SDK_DEFAULT_PROVIDER = customProvider({ languageModels: { "openai/gpt-5": model } })

  const ask = async (message: UIMessage) => {
    const body = JSON.stringify({ id: "c", message })
    const { body: answer } = await POST(new Request("https://example.com", { method: "POST", body }))
    return (await chunksOf(answer as ReadableStream<Uint8Array>)).map(({ type }) => type)
  }
  const sessions = createSessions({ storage })
  const types = async () => {
    const session = await sessions.open("c")
    const types: string[] = []
    for await (const { type } of session.entries()) types.push(type)
    // What the route appends is seen when it is opened again.
    await session.close()
    return types
  }
  for (const id of ["u1", "u2", "u3"]) expect(await ask(user(id, "word ".repeat(1_000)))).toContain("text-delta")
  const question = user("u4", "word ".repeat(1_500))
  expect(await ask(question)).toContain("error")
  await expect.poll(types).toContain("compaction")
  expect(await ask(question)).toContain("text-delta")
  const chat = await createChatStore<UIMessage>(createSessions({ storage })).loadChat("c")
  const roles = ["user", "assistant"]
  expect(chat.map(({ role }) => role)).toEqual([...roles, ...roles, ...roles, ...roles])
})

function tooLong(): APICallError {
  const message = "Your input exceeds the context window of this model. Please adjust your input and try again."
  return new APICallError({ message, url: "", requestBodyValues: {}, statusCode: 400, isRetryable: false })
}
