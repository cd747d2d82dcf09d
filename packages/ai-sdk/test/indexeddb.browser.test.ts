/** The store in a page: the chat of a page without a server, in IndexedDB. */
import { createSessions } from "@sessions/core"
import { createIndexedDbStorage } from "@sessions/idb"
import { expect, test } from "vitest"
import { type ChatMessage, createChatStore, createChatStreams } from "../src/index.ts"
import { afterSteps, question } from "./answers.ts"
import { answerChunks, createSource, Page } from "./pages.ts"

test("a chat is saved after each step, regenerated, listed and loaded again in IndexedDB", async () => {
  const database = `ai-sdk-${crypto.randomUUID()}`
  const sessions = createSessions({ storage: createIndexedDbStorage({ database }) })
  const store = createChatStore(sessions)
  const chatId = await store.createChat({ title: "In the page" })
  const { onStepEnd, onEnd, generateMessageId } = store.persist({ chatId, messages: afterSteps(0) })
  for (let step = 1; step <= 5; step++) {
    const messages = afterSteps(step)
    await onStepEnd({ messages, responseMessage: messages.at(-1) })
    expect(await store.loadChat(chatId)).toEqual(messages)
  }
  const regenerated: ChatMessage[] = [question("u1"), { ...question(generateMessageId()), role: "assistant" }]
  await onEnd({ messages: regenerated })
  await sessions.close()
  const again = createSessions({ storage: createIndexedDbStorage({ database }) })
  const later = createChatStore(again)
  expect(await later.loadChat(chatId)).toEqual(regenerated)
  expect((await later.listChats()).chats).toMatchObject([{ id: chatId, title: "In the page" }])
  await later.deleteChat(chatId)
  expect((await later.listChats()).chats).toEqual([])
  await again.close()
})

test("two stores on one database that save at once lose no message", async () => {
  const database = `ai-sdk-${crypto.randomUUID()}`
  const pages = [0, 1].map(() => createSessions({ storage: createIndexedDbStorage({ database }) }))
  const stores = pages.map((sessions) => createChatStore(sessions))
  await Promise.all(
    stores.map(async (store, page) => {
      for (let n = 0; n < 5; n++) await store.saveChat({ chatId: "c", messages: [question(`page ${page}, ${n}`)] })
    }),
  )
  const [sessions] = pages
  const session = await sessions?.open("c")
  const texts = new Set<string>()
  for await (const entry of session?.entries() ?? [])
    if (entry.type === "message") texts.add(JSON.stringify(entry.message))
  expect(texts.size).toBe(10)
  for (const page of pages) await page.close()
})

test("two pages on one database: one follows the run of the other from its start, and stops it", async () => {
  const database = `ai-sdk-${crypto.randomUUID()}`
  const pages = [0, 1].map(() => createSessions({ storage: createIndexedDbStorage({ database }) }))
  const [here, there] = pages.map((sessions) => createChatStreams(sessions, { readUIMessageStream: noMessages }))
  const run = await here?.start({ chatId: "c", messages: [question("u1")] })
  const source = createSource()
  run?.signal.addEventListener("abort", () => source.end())
  const ended = run?.consumeSseStream({ stream: source.stream })
  const chunks = answerChunks("a1", ["one", "two"]).slice(0, 5)
  source.push(...chunks)
  const page = new Page((await there?.resume("c")) ?? null)
  expect(await page.read(5)).toEqual(chunks)
  await there?.stop("c")
  await ended
  expect([await page.read(), page.isDone]).toEqual([chunks, true])
  expect(await there?.resume("c")).toBeNull()
  for (const sessions of pages) await sessions.close()
})

/** No run is lost here, so no message is made of chunks. */
async function* noMessages(): AsyncGenerator<ChatMessage> {}
