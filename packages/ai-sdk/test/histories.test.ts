/** Random histories of saves, by two processes: the last save is loaded, and the log keeps every message that was ever saved. */
import { createSessions, type Sessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { type UIMessage, validateUIMessages } from "ai"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createChatStore } from "../src/index.ts"
import { draftsOf } from "../src/entries.ts"

type Part = UIMessage["parts"][number]

interface Change {
  readonly kind: "append" | "regenerate" | "edit" | "continue" | "finish" | "metadata" | "key" | "cut" | "insert"
  readonly place: number
  readonly words: string
  /** Which process saves, and whether an earlier save is repeated late. */
  readonly process: number
}

const words = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom("", '{"a":1}', "\ud83d\ude00", "a\nb", "blob:sha256:"),
)
const change: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom("append", "regenerate", "edit", "continue", "finish", "metadata", "key", "cut", "insert"),
  place: fc.nat(20),
  words,
  process: fc.nat(1),
})

let ids = 0

function answer(text: string, place: number): UIMessage {
  const call: Part = {
    type: "tool-look",
    toolCallId: `c${place}`,
    ...(place % 3 === 0
      ? { state: "input-available", input: { text } }
      : place % 3 === 1
        ? { state: "output-available", input: { text }, output: place % 2 === 0 ? text : { text } }
        : { state: "output-available", preliminary: true, input: text, output: text }),
  }
  return {
    id: `a${++ids}`,
    role: "assistant",
    parts: [{ type: "step-start" }, { type: "text", text, state: "done" }, call],
  }
}

/** The messages after the change. */
function changed(messages: readonly UIMessage[], { kind, place, words: text }: Change): UIMessage[] {
  const list = structuredClone(messages) as UIMessage[]
  const at = list.length === 0 ? 0 : place % list.length
  const message = list[at]
  const question: UIMessage = { id: `u${++ids}`, role: "user", parts: [{ type: "text", text }] }
  if (kind === "append" || message === undefined) return [...list, question, answer(text, place)]
  if (kind === "regenerate") return [...list.slice(0, at), answer(text, place)]
  if (kind === "cut") return list.slice(0, at)
  if (kind === "insert") return [...list.slice(0, at), question, ...list.slice(at)]
  if (kind === "metadata") message.metadata = { text, place }
  else if (kind === "key") Object.assign(message, { [`key${place % 3}`]: text })
  else if (kind === "edit") message.parts[place % message.parts.length] = { type: "text", text }
  else if (kind === "continue")
    message.parts.push({ type: "step-start" }, { type: "text", text }, ...answer(text, place).parts)
  else message.parts = message.parts.map((part) => finished(part, text))
  return list
}

function finished(part: Part, text: string): Part {
  if (part.type !== "tool-look") return part
  return {
    type: part.type,
    toolCallId: part.toolCallId,
    input: part.input,
    state: "output-error",
    errorText: text,
  }
}

async function contentsOf(sessions: Sessions): Promise<ReadonlySet<string>> {
  const session = await sessions.open("c")
  const contents = new Set<string>()
  for await (const entry of session.entries()) if (entry.type === "message") contents.add(JSON.stringify(entry.message))
  await session.close()
  return contents
}

test("after any sequence of saves the last one is loaded and valid, and the log has the content of all of them", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 25 }), async (changes) => {
      const storage = createMemoryStorage()
      const processes = [createSessions({ storage }), createSessions({ storage })]
      const stores = processes.map((sessions) => createChatStore<UIMessage>(sessions))
      let messages: UIMessage[] = []
      const contents = new Set<string>()
      for (const one of changes) {
        messages = changed(messages, one)
        await stores[one.process]?.saveChat({ chatId: "c", messages })
        for (const { message } of messages.flatMap(draftsOf)) contents.add(JSON.stringify(message))
        const loaded = (await stores[1 - one.process]?.loadChat("c")) as UIMessage[]
        expect(loaded).toEqual(messages)
        if (loaded.length > 0) await validateUIMessages({ messages: loaded })
      }
      if (changes.length === 0) return
      const [sessions] = processes as [Sessions]
      const log = await contentsOf(sessions)
      expect([...contents].filter((content) => !log.has(content))).toEqual([])
      const { diagnostics } = await verifySession(sessions, "c")
      expect(diagnostics).toEqual([])
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 20) },
  )
})

async function messageEntries(sessions: Sessions): Promise<number> {
  const session = await sessions.open("c")
  let count = 0
  for await (const { type } of session.entries()) if (type === "message") count++
  await session.close()
  return count
}

test("messages that the log has on a branch are not written again, whichever process returns to them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { minLength: 1, maxLength: 12 }),
      fc.array(fc.record({ which: fc.nat(), process: fc.nat(1) }), { maxLength: 12 }),
      async (changes, returns) => {
        const storage = createMemoryStorage()
        const processes = [createSessions({ storage }), createSessions({ storage })] as const
        const stores = processes.map((sessions) => createChatStore<UIMessage>(sessions))
        const saved: UIMessage[][] = []
        for (const one of changes) {
          saved.push(changed(saved.at(-1) ?? [], one))
          await stores[one.process]?.saveChat({ chatId: "c", messages: saved.at(-1) ?? [] })
        }
        const before = await messageEntries(processes[0])
        for (const { which, process } of returns) {
          const messages = saved[which % saved.length] ?? []
          await stores[process]?.saveChat({ chatId: "c", messages })
          expect(await stores[1 - process]?.loadChat("c")).toEqual(messages)
        }
        expect(await messageEntries(processes[0])).toBe(before)
        expect((await verifySession(processes[0], "c")).diagnostics).toEqual([])
      },
    ),
    { numRuns: Number(process.env["FC_RUNS"] ?? 20) },
  )
})

test("two processes that save diverging messages in turn write each message once", async () => {
  const storage = createMemoryStorage()
  const stores = [0, 1].map(() => createChatStore<UIMessage>(createSessions({ storage })))
  const chats: UIMessage[][] = [[], []]
  for (let n = 0; n < 20; n++) {
    const chat = chats[n % 2] as UIMessage[]
    chat.push({ id: `m${n}`, role: "user", parts: [{ type: "text", text: `words ${n}` }] })
    await stores[n % 2]?.saveChat({ chatId: "c", messages: chat })
    expect(await stores[(n + 1) % 2]?.loadChat("c")).toEqual(chat)
  }
  expect(await messageEntries(createSessions({ storage }))).toBe(20)
})
