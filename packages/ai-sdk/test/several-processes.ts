/** Two processes with one chat at once: requests, saves, and pages that follow a run. */
import { createSessions, type Sessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { type UIMessage, validateUIMessages } from "ai"
import { describe, expect, test } from "vitest"
import { type ChatMessage, type ChatStore, createChatStore } from "../src/index.ts"
import { question } from "./answers.ts"
import { run, step, text, user } from "./model.ts"
import { chunks, createSource, createStreams, messages, Page } from "./pages.ts"
import type { Storages } from "./storages.ts"

export function answer(id: string, steps: number): UIMessage {
  const parts = Array.from({ length: steps }, (_, n): UIMessage["parts"] => [
    { type: "step-start" },
    { type: "text", text: `${id} step ${n}` },
  ])
  return { id, role: "assistant", parts: parts.flat() }
}

export function ids(messages: readonly UIMessage[]): readonly string[] {
  return messages.map(({ id }) => id)
}

/** The contents of all messages in the log, on all branches. */
export async function contentsOf(sessions: Sessions): Promise<readonly string[]> {
  const session = await sessions.open("c")
  const contents: string[] = []
  for await (const entry of session.entries())
    if (entry.type === "message") contents.push(JSON.stringify(entry.message))
  await session.close()
  return contents
}

export function twoRequestsTest(storages: Storages): void {
  describe.each(storages)("on %s", (_, make) => {
    test("two requests at once: both questions and both answers are loaded, each answer behind its question", async () => {
      const place = await make()
      const processes = [createSessions({ storage: place.open() }), createSessions({ storage: place.open() })]
      const stores = processes.map((sessions) => createChatStore<UIMessage>(sessions))
      const [one, two] = stores as [ChatStore<UIMessage>, ChatStore<UIMessage>]
      await one.saveChat({ id: "c", messages: [user("u1", "a"), answer("a1", 1)] })
      const requests = await Promise.all(
        stores.map(async (store, n) => {
          const messages = await store.addMessage({ id: "c", message: user(`q${n}`, `question ${n}`) })
          await run({ store, chatId: "c", messages, steps: [step(text(`answer ${n}`))] })
          return ids(messages)
        }),
      )
      const messages = await validateUIMessages({ messages: await one.loadChat("c") })
      expect(await two.loadChat("c")).toEqual(messages)
      const words = messages.map(({ parts }) => parts.map((part) => (part.type === "text" ? part.text : "")).join(""))
      const order = requests[0]?.includes("q1") === true ? [1, 0] : [0, 1]
      expect(words).toEqual(["a", "a1 step 0", ...order.flatMap((n) => [`question ${n}`, `answer ${n}`])])
      // The later request has the question of the earlier one, so the model knows both.
      expect(requests[order[1] ?? 0]).toEqual(expect.arrayContaining(["q0", "q1"]))
      for (const [n, sessions] of processes.entries())
        if (n === 0 || sessions.storage !== processes[0]?.storage) await sessions.close()
      await place.remove()
    })
  })
}

export function twoSavesTest(storages: Storages): void {
  describe.each(storages)("on %s", (_, make) => {
    test("two processes that save at once lose no message, and the chat is that of the last save", async () => {
      const place = await make()
      const processes = [createSessions({ storage: place.open() }), createSessions({ storage: place.open() })]
      const saved: ChatMessage[][] = []
      await Promise.all(
        processes.map(async (sessions, number) => {
          const store = createChatStore(sessions)
          await store.saveChat({ chatId: "c", activeStreamId: null })
          for (let n = 0; n < 10; n++) {
            const messages = [...(await store.loadChat("c")), question(`p${number}n${n}`)]
            await store.saveChat({ chatId: "c", messages })
            saved.push(messages)
          }
        }),
      )
      const [one, two] = processes as [Sessions, Sessions]
      const messages = await createChatStore(one).loadChat("c")
      expect(await createChatStore(two).loadChat("c")).toEqual(messages)
      expect(saved).toContainEqual(messages)
      const contents = await contentsOf(one)
      expect(new Set(contents).size).toBe(20)
      expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
      // The branches of the process that was slower are reported, since the chat does not show them.
      const defects = (await verifySession(one, "c")).diagnostics.filter(({ code }) => code !== "diverged")
      expect(defects).toEqual([])
      await one.close()
      if (two.storage !== one.storage) await two.close()
      await place.remove()
    })
  })
}

export function twoPagesTest(storages: Storages): void {
  describe.each(storages)("on %s", (_, make) => {
    test("two pages in other processes follow a run, and one of them stops it", async () => {
      const place = await make()
      const processes = [0, 1, 2].map(() => createSessions({ storage: place.open() }))
      const [first, ...others] = processes as [Sessions, Sessions, Sessions]
      const run = await createStreams(first).start({ chatId: "c", messages })
      const source = createSource()
      run.signal.addEventListener("abort", () => {
        source.push({ type: "abort" })
        source.end()
      })
      const ended = run.consumeSseStream({ stream: source.stream })
      source.push(...chunks.slice(0, 5))
      const pages = []
      for (const sessions of others) pages.push(new Page(await createStreams(sessions).resume("c")))
      for (const page of pages) expect(await page.read(5)).toEqual(chunks.slice(0, 5))
      await createStreams(others[1]).stop("c")
      await ended
      expect(run.signal.aborted).toBe(true)
      for (const page of pages) expect(await page.read()).toEqual([...chunks.slice(0, 5), { type: "abort" }])
      expect(await createStreams(others[0]).resume("c")).toBeNull()
      for (const sessions of processes)
        if (sessions.storage !== first.storage || sessions === first) await sessions.close()
      await place.remove()
    })
  })
}
