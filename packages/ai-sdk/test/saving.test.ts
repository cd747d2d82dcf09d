/** What a save writes, and which sessions are chats. */
import { createSessions, SessionError, type Sessions } from "@sessions/core"
import { exportSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { safeValidateUIMessages, type UIMessage } from "ai"
import { expect, test } from "vitest"
import { type ChatStore, createChatStore } from "../src/index.ts"
import { user } from "./model.ts"

interface World {
  readonly sessions: Sessions
  readonly store: ChatStore<UIMessage>
}

function createWorld(): World {
  const sessions = createSessions({ storage: createMemoryStorage() })
  return { sessions, store: createChatStore<UIMessage>(sessions) }
}

async function logOf(sessions: Sessions, id: string): Promise<string> {
  let log = ""
  for await (const piece of exportSession(sessions, id)) log += piece
  return log
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return "none"
  } catch (error) {
    return error instanceof SessionError ? error.code : String(error)
  }
}

/** A long answer of two steps with text, reasoning, a call and its result. */
function longAnswer(id: string, words: string): UIMessage {
  return {
    id,
    role: "assistant",
    metadata: { model: "m" },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: words, state: "done", providerMetadata: { anthropic: { signature: words } } },
      {
        type: "tool-search",
        toolCallId: `call-${id}`,
        state: "output-available",
        input: { query: words },
        output: words,
        callProviderMetadata: { google: { thoughtSignature: words } },
      },
      { type: "step-start" },
      { type: "text", text: words, state: "done" },
    ],
  }
}

test("a save of a chat with 1,000 messages writes at most 2 KB more than the JSON of the new message", async () => {
  const { sessions, store } = createWorld()
  const messages = Array.from({ length: 1_000 }, (_, i) =>
    i % 2 === 0 ? user(`u${i}`, "question ".repeat(50)) : longAnswer(`a${i}`, "answer ".repeat(50)),
  )
  await store.saveChat({ chatId: "long", messages })
  for (const message of [user("u", "word ".repeat(2_000)), longAnswer("a", "word ".repeat(2_000))]) {
    const before = Buffer.byteLength(await logOf(sessions, "long"))
    messages.push(message)
    await store.saveChat({ chatId: "long", messages })
    const written = Buffer.byteLength(await logOf(sessions, "long")) - before
    expect(written).toBeLessThan(Buffer.byteLength(JSON.stringify(message)) + 2_048)
  }
  expect(await store.loadChat("long")).toEqual(messages)
})

test("a repeated save writes nothing", async () => {
  const { sessions, store } = createWorld()
  const messages = [user("u1", "a"), longAnswer("a1", "b")]
  await store.saveChat({ chatId: "c", messages, activeStreamId: null })
  const log = await logOf(sessions, "c")
  await store.saveChat({ id: "c", messages, activeStreamId: null })
  expect(await logOf(sessions, "c")).toBe(log)
})

test("a change of metadata and of fields that are no content is one small entry behind the messages", async () => {
  const { sessions, store } = createWorld()
  const messages = [longAnswer("a1", "word ".repeat(1_000)), user("u1", "b")]
  await store.saveChat({ chatId: "c", messages })
  const before = (await logOf(sessions, "c")).length
  const [answer, question] = structuredClone(messages) as [UIMessage, UIMessage]
  answer.metadata = { rating: 1 }
  answer.parts.splice(4, 1, { type: "text", text: "word ".repeat(1_000), providerMetadata: { p: { id: "x" } } })
  await store.saveChat({ chatId: "c", messages: [answer, question] })
  expect((await logOf(sessions, "c")).length - before).toBeLessThan(500)
  expect(await store.loadChat("c")).toEqual([answer, question])
  delete answer.metadata
  await store.saveChat({ chatId: "c", messages: [answer, question] })
  const loaded = await store.loadChat("c")
  expect([loaded, Object.hasOwn(loaded[0] ?? {}, "metadata")]).toEqual([[answer, question], false])
})

test("a branch keeps later changes of the messages before it", async () => {
  const { store } = createWorld()
  const answer = longAnswer("a1", "a")
  await store.saveChat({ chatId: "c", messages: [answer, user("u1", "b")] })
  const rated = { ...answer, metadata: { rating: 1 } }
  await store.saveChat({ chatId: "c", messages: [rated, user("u1", "b")] })
  await store.saveChat({ chatId: "c", messages: [rated, user("u2", "c")] })
  expect(await store.loadChat("c")).toEqual([rated, user("u2", "c")])
})

test("every kind of part is loaded as it was saved", async () => {
  const { store } = createWorld()
  const png = "iVBORw0KGgo=".repeat(200)
  const messages: UIMessage[] = [
    { id: "s", role: "system", parts: [{ type: "text", text: "Be brief." }] },
    {
      id: "u",
      role: "user",
      parts: [
        { type: "text", text: "" },
        { type: "file", mediaType: "image/png", url: `data:image/png;base64,${Buffer.from(png).toString("base64")}` },
        { type: "file", mediaType: "application/pdf", filename: "a.pdf", url: "data:application/pdf;base64,QQ==" },
        { type: "file", mediaType: "image", url: "https://example.com/a.png", providerReference: { openai: "file-1" } },
      ],
    },
    {
      id: "a",
      role: "assistant",
      parts: [
        { type: "text", text: "before a step", citations: [] },
        { type: "step-start" },
        { type: "custom", kind: "openai.compaction", providerMetadata: { openai: { encrypted: "+/==" } } },
        { type: "reasoning", id: "r1", text: "" },
        { type: "source-url", sourceId: "1", url: "https://example.com" },
        { type: "source-document", sourceId: "2", mediaType: "text/plain", title: "t" },
        { type: "reasoning-file", mediaType: "image/png", url: "data:image/png;base64,QQ==" },
        { type: "data-weather", id: "w", data: { sun: [1, null, { deep: true }] } },
        { type: "tool-a", toolCallId: "1", state: "input-streaming", rawInput: '{"a', input: { a: "" } },
        {
          type: "tool-a",
          toolCallId: "2",
          state: "output-available",
          preliminary: true,
          input: { a: 1 },
          output: { p: 1 },
        },
        { type: "tool-a", toolCallId: "3", state: "output-available", input: "text", output: null },
        { type: "tool-a", toolCallId: "4", state: "output-available", input: [1], output: "" },
        {
          type: "tool-a",
          toolCallId: "5",
          state: "output-error",
          input: undefined,
          rawInput: "{",
          errorText: "no JSON",
        },
        {
          type: "dynamic-tool",
          toolName: "d",
          toolCallId: "6",
          state: "output-available",
          input: {},
          output: [1],
          providerExecuted: true,
        },
        { type: "steering-message", id: "st", parts: [{ type: "text", text: "shorter, please" }] },
        { type: "text", text: "after it" },
      ],
    },
  ]
  await store.saveChat({ chatId: "c", messages })
  const loaded = await store.loadChat("c")
  expect(loaded).toEqual(JSON.parse(JSON.stringify(messages)))
  expect(await safeValidateUIMessages({ messages: loaded })).toMatchObject({ success: true })
})

test("every key of a message is loaded as it was saved and changed by one small entry, also `__proto__`, which becomes no prototype", async () => {
  const { sessions, store } = createWorld()
  const other = createChatStore<UIMessage>(createSessions({ storage: sessions.storage }))
  const save = async (keys: string): Promise<void> => {
    const text = `[{"id":"a","role":"user",${keys}"metadata":{"__proto__":1},"parts":[{"type":"text","__proto__":2,"text":"hi"}]}]`
    const messages = JSON.parse(text) as UIMessage[]
    await store.saveChat({ chatId: "c", messages })
    const loaded = await other.loadChat("c")
    // `toEqual` does not look at a key `__proto__`.
    expect(sortedJson(loaded)).toBe(sortedJson(messages))
    expect(Object.getPrototypeOf(loaded[0])).toBe(Object.prototype)
    expect((await safeValidateUIMessages({ messages: loaded })).success).toBe(true)
  }
  await save(`"__proto__":{"admin":true},"createdAt":"2026-01-31","constructor":{"prototype":{"admin":true}},`)
  const before = (await logOf(sessions, "c")).length
  await save(`"__proto__":{"admin":false},"constructor":null,"by":"ada",`)
  await save("")
  expect({}).not.toHaveProperty("admin")
  const added = (await logOf(sessions, "c")).slice(before).trim().split("\n")
  expect(added.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(["custom", "custom"])
})

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === "object" && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

test("an answer that begins with a message of the user in its middle keeps its metadata", async () => {
  const { store } = createWorld()
  const steering = {
    type: "steering-message",
    parts: [{ type: "text", text: "stop" }],
  } as unknown as UIMessage["parts"][0]
  const messages: UIMessage[] = [{ id: "a", role: "assistant", metadata: { by: "ada" }, parts: [steering] }]
  await store.saveChat({ chatId: "c", messages })
  expect(await store.loadChat("c")).toEqual(messages)
})

test("two messages with one id stay two messages", async () => {
  const { store } = createWorld()
  const messages = [user("x", "a"), longAnswer("x", "b"), user("x", "c")]
  await store.saveChat({ chatId: "c", messages })
  expect(await store.loadChat("c")).toEqual(messages)
  const changed = [{ ...user("x", "a"), metadata: 1 }, ...messages.slice(1)]
  await store.saveChat({ chatId: "c", messages: changed })
  expect(await store.loadChat("c")).toEqual(changed)
})

test("a save takes the messages as they are when it is called, and saves at once follow each other", async () => {
  const { sessions, store } = createWorld()
  const messages = [user("u1", "a")]
  const saves = [store.saveChat({ chatId: "c", messages })]
  messages.push(user("u2", "b"))
  saves.push(createChatStore<UIMessage>(sessions).saveChat({ chatId: "c", messages }))
  messages.push(user("u3", "c"))
  await Promise.all(saves)
  expect(await store.loadChat("c")).toEqual(messages.slice(0, 2))
})

test("sessions of other kinds are no chats: they are not listed, loaded, saved or deleted", async () => {
  const { sessions, store } = createWorld()
  const other = await sessions.create({
    id: "other",
    entries: [{ type: "message", message: { role: "user", content: "hi" } }],
  })
  await other.close()
  await store.createChat({ id: "chat", metadata: { user: "ada" }, messages: [user("u1", "hello there")] })
  expect((await store.listChats()).chats).toMatchObject([
    { id: "chat", firstPrompt: "hello there", metadata: { user: "ada" } },
  ])
  expect((await store.listChats({ metadata: { user: "bob" } })).chats).toEqual([])
  expect(await codeOf(store.loadChat("other"))).toBe("not_found")
  expect(await codeOf(store.saveChat({ chatId: "other", messages: [user("u1", "x")] }))).toBe("exists")
  await store.deleteChat("other")
  expect(await logOf(sessions, "other")).toContain("hi")
})

test("a deleted chat is gone, and deleting it again resolves", async () => {
  const { store } = createWorld()
  await store.createChat({ id: "c", messages: [user("u1", "x")] })
  await store.deleteChat("c")
  await store.deleteChat("c")
  expect(await codeOf(store.loadChat("c"))).toBe("not_found")
  expect((await store.listChats()).chats).toEqual([])
})

test("the active stream is set and cleared, and clearing an older stream keeps the newer one", async () => {
  const { store } = createWorld()
  const chatId = await store.createChat()
  expect(await store.readChat(chatId)).toEqual({ messages: [], activeStreamId: null })
  await store.saveChat({ id: chatId, messages: [user("u1", "x")], activeStreamId: "s1" })
  expect(await store.readChat(chatId)).toEqual({ messages: [user("u1", "x")], activeStreamId: "s1" })
  await store.saveChat({ id: chatId, activeStreamId: "s2" })
  await store.clearActiveStream(chatId, "s1")
  expect((await store.readChat(chatId)).activeStreamId).toBe("s2")
  await store.clearActiveStream(chatId, "s2")
  expect((await store.readChat(chatId)).activeStreamId).toBeNull()
  await store.clearActiveStream(chatId, "s1")
  expect((await store.readChat(chatId)).activeStreamId).toBeNull()
  await store.saveChat({ id: chatId, activeStreamId: "s2" })
  expect((await store.readChat(chatId)).activeStreamId).toBe("s2")
  await store.saveChat({ id: chatId, activeStreamId: null })
  expect((await store.readChat(chatId)).activeStreamId).toBeNull()
})

test("messages without JSON are refused before anything is written", async () => {
  const { store } = createWorld()
  const messages = [{ ...user("u1", "x"), metadata: 1n }]
  expect(await codeOf(store.saveChat({ chatId: "c", messages }))).toBe("invalid")
  expect(await codeOf(store.loadChat("c"))).toBe("not_found")
})

test("a chat that another process has branched is read and continued at the end of its log", async () => {
  const storage = createMemoryStorage()
  const [here, there] = [createSessions({ storage }), createSessions({ storage })]
  const [store, other] = [createChatStore<UIMessage>(here), createChatStore<UIMessage>(there)]
  await store.saveChat({ chatId: "c", messages: [user("u1", "a"), user("u2", "b")] })
  // A handle of the application keeps its place in the log.
  const held = await here.open("c")
  await other.saveChat({ chatId: "c", messages: [user("u1", "a"), user("u3", "c")] })
  expect(await store.loadChat("c")).toEqual([user("u1", "a"), user("u3", "c")])
  await store.saveChat({ chatId: "c", messages: [user("u1", "a"), user("u3", "c"), user("u4", "d")] })
  expect(await other.loadChat("c")).toEqual([user("u1", "a"), user("u3", "c"), user("u4", "d")])
  await other.saveChat({ chatId: "c", messages: [] })
  expect(await store.loadChat("c")).toEqual([])
  await store.saveChat({ chatId: "c", messages: [user("u5", "e")] })
  expect(await other.loadChat("c")).toEqual([user("u5", "e")])
  await held.close()
})

test.each<[string, unknown]>([
  ["no array", "text"],
  ["null in place of a message", [null]],
  ["a message without an id", [{ role: "user", parts: [{ type: "text", text: "a" }] }]],
  ["a message without a role", [{ id: "m", parts: [{ type: "text", text: "a" }] }]],
  ["a message without parts", [{ id: "m", role: "user", content: "a" }]],
  ["a part without a type", [{ id: "m", role: "user", parts: [{ text: "a" }] }]],
  ["null in place of a part", [{ id: "m", role: "user", parts: [null] }]],
])("messages that could not be loaded again are `invalid`, and the chat stays as it is: %s", async (_, messages) => {
  const { store } = createWorld()
  const saved = [user("u1", "a question")]
  await store.saveChat({ chatId: "c", messages: saved })
  await expect(store.saveChat({ chatId: "c", messages: messages as never })).rejects.toMatchObject({ code: "invalid" })
  await expect(store.createChat({ messages: messages as never })).rejects.toMatchObject({ code: "invalid" })
  expect(await store.loadChat("c")).toEqual(saved)
})
