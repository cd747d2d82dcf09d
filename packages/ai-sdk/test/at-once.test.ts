/** Several requests in one chat at once: two tabs, a double click, two processes. */
import { createSessions, type Sessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { type UIMessage, validateUIMessages } from "ai"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createChatStore } from "../src/index.ts"
import { run, step, text, user } from "./model.ts"
import { answer, ids, twoRequestsTest } from "./several-processes.ts"
import { storages } from "./storages.ts"

twoRequestsTest(storages)

/** A request: it adds its question, then saves its answer after each of its steps. */
interface Request {
  readonly process: number
  readonly steps: number
}

test("however requests interleave, every question and every whole answer is loaded once, each answer behind its question", async () => {
  const request = fc.record({ process: fc.nat(1), steps: fc.integer({ min: 1, max: 3 }) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { minLength: 16, maxLength: 16 }),
      async (requests, order) => {
        const storage = createMemoryStorage()
        const processes = [createSessions({ storage }), createSessions({ storage })]
        const left = requests.map((one, n) => turnsOf(processes[one.process] as Sessions, n, one))
        const added: string[] = []
        for (let turn = 0; left.some(({ length }) => length > 0); turn++) {
          const open = left.filter(({ length }) => length > 0)
          const question = await open[(order[turn % order.length] ?? 0) % open.length]?.shift()?.()
          if (question !== undefined) added.push(question)
        }
        const messages = await createChatStore<UIMessage>(processes[0] as Sessions).loadChat("c")
        const expected = added.flatMap((id) => [
          user(id, `text of ${id}`),
          answer(`a${id}`, requests[Number(id.slice(1))]?.steps ?? 0),
        ])
        expect(messages).toEqual(expected)
        await validateUIMessages({ messages })
        const { diagnostics } = await verifySession(processes[0] as Sessions, "c")
        expect(diagnostics.filter(({ code }) => code !== "diverged")).toEqual([])
      },
    ),
    { numRuns: Number(process.env["FC_RUNS"] ?? 20) },
  )
})

function turnsOf(sessions: Sessions, n: number, { steps }: Request): (() => Promise<string | undefined>)[] {
  const store = createChatStore<UIMessage>(sessions)
  const id = `q${n}`
  let messages: UIMessage[] = []
  return [
    async () => {
      messages = await store.addMessage({ chatId: "c", message: user(id, `text of ${id}`) })
      return id
    },
    ...Array.from({ length: steps }, (_, number) => async () => {
      const saving = store.persist({ chatId: "c", messages })
      const responseMessage = answer(`a${id}`, number + 1)
      await saving.onStepEnd({ responseMessage, messages: [...messages, responseMessage] })
      return undefined
    }),
  ]
}

test("a message with the id of a stored one replaces it: what follows stays behind an answer, and goes with a changed question", async () => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const all = [user("u1", "a"), answer("a1", 1), user("u2", "b")]
  await store.saveChat({ id: "c", messages: all })
  expect(ids(await store.addMessage({ id: "c", message: user("u1", "a") }))).toEqual(["u1"])
  expect(await store.loadChat("c")).toEqual(all)
  expect(await store.addMessage({ id: "c", message: answer("a1", 2) })).toEqual([all[0], answer("a1", 2)])
  expect(await store.loadChat("c")).toEqual([all[0], answer("a1", 2), all[2]])
  await store.addMessage({ id: "c", message: user("u1", "changed") })
  expect(await store.loadChat("c")).toEqual([user("u1", "changed")])
  await expect(store.addMessage({ id: "c", message: { ...user("u3", ""), parts: [] } })).rejects.toMatchObject({
    code: "invalid",
  })
})

test("a regenerated answer takes the place of the one before, with what follows it", async () => {
  const store = createChatStore<UIMessage>(createSessions({ storage: createMemoryStorage() }))
  const all = [user("u1", "a"), answer("a1", 1), user("u2", "b"), answer("a2", 1)]
  await store.saveChat({ id: "c", messages: all })
  await run({ store, chatId: "c", messages: all.slice(0, 1), steps: [step(text("again"))] })
  expect(await store.loadChat("c")).toMatchObject([all[0], { role: "assistant", parts: [{}, { text: "again" }] }])
})
