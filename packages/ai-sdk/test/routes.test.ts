/** A chat that was interrupted is answered by every route that the docs and the example show. */
import { mkdtempSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { createMemoryStorage } from "@sessions/memory"
import { createSessions } from "@sessions/core"
import type { UIMessage } from "ai"
import { afterAll, afterEach, expect, test } from "vitest"
import { folderFor } from "../../../.config/program.ts"
import { createChatStore } from "../src/index.ts"
import { call, completed, step, text, user } from "./model.ts"
import { exitOf, startProgram } from "./processes.ts"
import { chunksOf, errors, routes, type Server } from "./routes.ts"
import { openStorage } from "./storage-of-process.ts"

const { folder, remove } = folderFor(fileURLToPath(new URL("..", import.meta.url)))
afterAll(remove)
afterEach(() => {
  errors.length = 0
})

const answer = [step(text("Here I am."))]

/** Asks two more questions, since the first answer could be refused for ever. */
async function expectAnswers(server: Server): Promise<void> {
  for (const id of ["next", "after next"]) {
    const chunks = await chunksOf(await server.ask(user(id, "are you there?"), answer))
    expect(chunks.filter(({ type }) => type === "error")).toEqual([])
    expect(chunks.map(({ type }) => type)).toContain("text-delta")
  }
  if (server.regenerate === undefined) return
  const chunks = await chunksOf(await server.regenerate(answer))
  expect(chunks.map(({ type }) => type)).toContain("text-delta")
}

async function worldOf(name: string): Promise<{ readonly server: Server; readonly load: () => Promise<UIMessage[]> }> {
  const storage = createMemoryStorage()
  const store = createChatStore<UIMessage>(createSessions({ storage }))
  const server = (await routes[name]?.({ folder, storage })) as Server
  return { server, load: () => store.loadChat("c") }
}

test("Resumable streams: a run whose process is killed in a tool is answered from then on, with what it had said", async () => {
  // Removed after all tests: a run closes its log after its last chunk.
  const root = mkdtempSync(join(folder, "storage-"))
  const child = startProgram(new URL("route-process.ts", import.meta.url), ["files", root, "Resumable streams", folder])
  for await (const line of createInterface(child.stdout)) if (line === "in the tool") child.kill("SIGKILL")
  expect(await exitOf(child)).toBeNull()
  const storage = openStorage("files", root)
  const server = (await routes["Resumable streams"]?.({ folder, storage, heartbeatMs: 20 })) as Server
  await expectAnswers(server)
  expect(errors).toEqual([])
  const [, killed] = await createChatStore<UIMessage>(createSessions({ storage })).loadChat("c")
  expect(killed?.parts).toMatchObject([{}, { text: "I look." }, { type: "tool-hang", state: "input-available" }])
})

const names = Object.keys(routes)

test.each(names)("%s: a page that never answers its own tool, or an approval, gets the next answers", async (name) => {
  for (const tool of ["page", "approved"]) {
    const { server, load } = await worldOf(name)
    const waiting = await chunksOf(await server.ask(user("u1", "go"), [step(text("I look."), call("c1", tool, {}))]))
    expect(waiting.map(({ type }) => type)).toContain("tool-input-available")
    await expectAnswers(server)
    expect((await load()).map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ])
  }
  expect(errors).toEqual([])
})

test.each(names)(
  "%s: an approval that a page sends under an id of its own is executed once, in one message",
  async (name) => {
    const { server, load } = await worldOf(name)
    await chunksOf(await server.ask(user("u1", "go"), [step(call("c1", "approved", {}))]))
    const asking = (await load()).at(-1) as UIMessage
    const chunks = await chunksOf(await server.ask({ ...completed(asking), id: "of the page" }, answer))
    expect(chunks.filter(({ type }) => type === "tool-output-available")).toMatchObject([{ output: "done" }])
    const [, answered, ...more] = await load()
    expect([answered?.id, more]).toEqual(["of the page", []])
    await expectAnswers(server)
    expect(errors).toEqual([])
  },
)

test.each(names.filter((name) => name === "Resumable streams" || name === "the example"))(
  "%s: a run that was stopped in a tool of the server is answered from then on",
  async (name) => {
    const { server, load } = await worldOf(name)
    await chunksOf(
      await server.ask(user("u1", "go"), [step(text("I look."), call("c1", "hang", {}))]),
      "tool-input-available",
    )
    await server.stop?.()
    const stopped = (await load()).at(-1)
    expect(stopped?.parts).toMatchObject([{}, { text: "I look." }, { type: "tool-hang", state: "input-available" }])
    await expectAnswers(server)
  },
)
