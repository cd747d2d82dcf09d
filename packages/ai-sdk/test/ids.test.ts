/** Messages whose ids are empty or repeated, and a page that answers under an id of its own. */
import { createSessions, type NewEntry, type Sessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { readUIMessageStream, tool, type UIMessage, validateUIMessages } from "ai"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { runs } from "../../../.config/runs.ts"
import { createChatStore, createChatStreams } from "../src/index.ts"
import { call, completed, run, step, text, user } from "./model.ts"

function answer(id: string, words: string): UIMessage {
  return { id, role: "assistant", parts: [{ type: "step-start" }, { type: "text", text: words, state: "done" }] }
}

const change = { parts: { 0: { set: { text: "taken over" } } }, metadata: { value: "taken over" } }
const step0 = { id: "", role: "user", from: 0, parts: [{ type: "text", text: "taken over" }] }
/** Entries beside those of the chat, some of which have the shape of the chat's own. */
const foreign: readonly NewEntry[] = [
  { type: "title_change", title: "A title", source: "user" },
  { type: "metadata", key: "app", value: change },
  { type: "metadata", key: "ai-sdk:update", value: { id: "", ...change } },
  { type: "custom", customType: "app:note" },
  { type: "custom", customType: "app:note", data: change },
  { type: "custom", customType: "app:note", data: { id: "", ...change } },
  { type: "custom", customType: "ai-sdk:update", data: change },
  { type: "custom", customType: "app:note", ui: step0, data: {} },
  { type: "custom", customType: "app:note", ui: { id: "", of: 0, set: { text: "taken over" } } },
  { type: "message", message: { role: "user", content: "of another program" } },
]

const id = fc.constantFrom("", "", "a", "b")
const words = fc.constantFrom("yes", "no", "")
const action = fc.oneof(
  fc.record({ kind: fc.constant("turn" as const), asked: id, answered: id, words }),
  fc.record({ kind: fc.constant("foreign" as const), which: fc.nat(foreign.length - 1) }),
  fc.record({ kind: fc.constantFrom("rate", "edit", "grow", "cut", "stream"), place: fc.nat(9), words }),
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

function after(messages: readonly UIMessage[], one: Action): UIMessage[] {
  const list = structuredClone(messages) as UIMessage[]
  if (one.kind === "turn") return [...list, user(one.asked, one.words), answer(one.answered, one.words)]
  if (one.kind === "foreign" || list.length === 0) return list
  const { kind, place, words: said } = one
  const message = list[place % list.length] as UIMessage
  if (kind === "rate") message.metadata = { said, place }
  if (kind === "edit") message.parts = [{ type: "text", text: `edited ${said}` }]
  if (kind === "grow") message.parts = [...message.parts, ...answer("", said).parts]
  return kind === "cut" ? list.slice(0, place % list.length) : list
}

test("whatever ids the messages have, and whatever an application writes beside them, the chat that was saved last is loaded", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 12 }), async (actions) => {
      const sessions = createSessions({ storage: createMemoryStorage() })
      const store = createChatStore<UIMessage>(sessions)
      await store.createChat({ id: "c" })
      let messages: UIMessage[] = []
      for (const one of actions) {
        messages = after(messages, one)
        if (one.kind === "foreign") await append(sessions, foreign[one.which] as NewEntry)
        else if (one.kind === "stream") await store.saveChat({ id: "c", activeStreamId: `s${one.place}` })
        else await store.saveChat({ id: "c", messages })
        expect(await store.loadChat("c")).toEqual(messages)
      }
      await store.saveChat({ id: "c", messages })
      expect(await store.addMessage({ id: "c", message: user("new", "go on") })).toEqual([
        ...messages,
        user("new", "go on"),
      ])
      expect((await verifySession(sessions, "c")).diagnostics).toEqual([])
    }),
    { numRuns: runs(16) },
  )
})

async function append(sessions: Sessions, entry: NewEntry): Promise<void> {
  const session = await sessions.open("c")
  await session.append(entry)
  await session.close()
}

test("a custom entry of the application changes no message, even if it has the shape of an update", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const store = createChatStore<UIMessage>(sessions)
  const messages = [user("u1", "hi"), answer("", "hello")]
  await store.saveChat({ id: "c", messages })
  for (const entry of foreign) await append(sessions, entry)
  expect(await store.loadChat("c")).toEqual(messages)
})

test('a chat whose answer has the id `""` loads after it got a title', async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const store = createChatStore<UIMessage>(sessions)
  await store.saveChat({ id: "c", messages: [user("u1", "hi"), answer("", "hello")] })
  await sessions.rename("c", "A title")
  expect(await store.loadChat("c")).toHaveLength(2)
})

const approve = tool({ inputSchema: z.object({}), needsApproval: true, execute: async () => "done" })

test("an approval that a page sends under an id of its own completes the stored answer, which then has this id", async () => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const messages = await store.addMessage({ id: "c", message: user("u1", "go") })
  await run({ store, chatId: "c", messages, steps: [step(call("c1", "approve", {}))], tools: { approve } })
  const [question, asking] = (await store.loadChat("c")) as [UIMessage, UIMessage]
  const approved = { ...completed(asking), id: "of the page" }
  // A second tab has asked meanwhile, with a call of the same id.
  await store.addMessage({ id: "c", message: user("u2", "and?") })
  const request = await store.addMessage({ id: "c", message: approved })
  expect(request).toEqual([question, approved])
  expect(await store.addMessage({ id: "c", message: approved })).toEqual(request)
  await run({ store, chatId: "c", messages: request, steps: [step(text("It is done."))], tools: { approve } })
  const loaded = await store.loadChat("c")
  expect(loaded.map((message) => message.id)).toEqual(["u1", "of the page", "u2"])
  expect(loaded[1]?.parts).toMatchObject([
    {},
    { state: "output-available", output: "done" },
    {},
    { text: "It is done." },
  ])
  await validateUIMessages({ messages: loaded })
})

test("an answer with the id of a call that an earlier answer has is a new message if that call has its result, or is another one", async () => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const calling = (message: string, city: string, done: boolean): UIMessage => {
    const part = { type: "tool-weather", toolCallId: "call_0", input: { city } } as const
    return {
      id: message,
      role: "assistant",
      parts: [done ? { ...part, state: "output-available", output: "warm" } : { ...part, state: "input-available" }],
    }
  }
  const all = [calling("a1", "Rome", true), calling("a2", "Rome", false), calling("a3", "Oslo", true)]
  for (const message of all) await store.addMessage({ id: "c", message })
  expect(await store.loadChat("c")).toEqual(all)
})

test('a question with the id `""` takes the place of no message, and is stored once if it is sent again', async () => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const all = [user("", "one"), answer("", "first"), user("", "yes"), answer("", "second"), user("", "yes")]
  for (const message of all) await store.addMessage({ id: "c", message })
  expect(await store.addMessage({ id: "c", message: user("", "yes") })).toEqual(all)
  expect(await store.loadChat("c")).toEqual(all)
})

test('a run whose question has the id `""` is saved behind that question', async () => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const before = [user("", "one"), answer("", "first")]
  await store.saveChat({ id: "c", messages: before })
  const messages = await store.addMessage({ id: "c", message: user("", "two") })
  await store.addMessage({ id: "c", message: user("", "of another tab") })
  const callbacks = store.persist({ chatId: "c", messages })
  await callbacks.onEnd({ messages: [...messages, answer("a2", "second")] })
  expect(await store.loadChat("c")).toEqual([...messages, answer("a2", "second"), user("", "of another tab")])
})

test('what a lost run has left under the id `""` replaces no other answer', async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const store = createChatStore<UIMessage>(sessions)
  const streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream, heartbeatMs: 5 })
  const run = await streams.start({ chatId: "c", messages: [user("u1", "one")] })
  const log = await sessions.open(run.streamId)
  const chunks = [
    { type: "start" },
    { type: "start-step" },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "first" },
    { type: "start-step" },
  ]
  await log.append({ type: "custom", customType: "ai-sdk:chunks", data: { from: 0, chunks } })
  const later = [
    user("u1", "one"),
    user("u2", "two"),
    { ...answer("", ""), parts: [{ type: "text" as const, text: "second" }] },
  ]
  await store.saveChat({ id: "c", messages: later })
  await streams.stop("c")
  expect(await store.loadChat("c")).toEqual(later)
})
